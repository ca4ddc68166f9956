// The bytes of a trace and of the journal beside it: after a clean end, after a kill in the middle of recording (a write-ahead
// log), after a kill in the middle of an edit (a rollback journal). An input is one byte for who looks at it, one for the files
// and what becomes of them as a whole, then a list of changes:
//
//     file and how much (1 byte), where (3 bytes), the new bytes
//
// Whatever it is, reading it changes no file, makes none and deletes none.

#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/trace_look.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/traces/super_journal.h"
#include "traces/store/sqlite.h"

#include <array>
#include <filesystem>
#include <fuzzer/FuzzedDataProvider.h>
#include <sqlite3.h>
#include <unistd.h>

namespace schedscope::fuzz {

namespace {

namespace fs = std::filesystem;

struct Files {
    std::string trace, beside;
    const char* suffix = "";
};

const std::string& folder() {
    static const std::string path = [] {
        std::string name = scratch_folder() + "/bytes";
        fs::create_directory(name);
        return name;
    }();
    return path;
}
std::string trace_path() { return folder() + "/t"; }

/// As an SQL tool that is killed leaves it, when nothing of it was in the file yet (journal_mode WAL) or some was (DELETE).
Files killed_in_an_edit(const char* journal_mode, const char* suffix) {
    const std::string path = folder() + "/killed";
    write_bytes(path, small_trace());
    Files files;
    {
        sqlite::Database database(path, sqlite::Database::Mode::edit);
        database.execute(std::string("PRAGMA journal_mode = ") + journal_mode +
                         "; PRAGMA cache_size = 1; PRAGMA wal_autocheckpoint = 0");
        database.execute("BEGIN; UPDATE tensor SET name = name || '?'; UPDATE query SET time_ns = time_ns + 1");
        if (std::string_view(suffix) == "-wal") {
            database.execute("COMMIT");
        }
        files = {read_bytes(path), read_bytes(path + suffix), suffix};
    }
    for (const char* left : {"", "-wal", "-shm", "-journal"}) {
        fs::remove(path + left);
    }
    return files;
}

} // namespace

void run(std::string_view whole_input) {
    FuzzedDataProvider input(reinterpret_cast<const uint8_t*>(whole_input.data()), whole_input.size());
    static const std::array<Files, 3> kinds{Files{small_trace(), "", ""}, killed_in_an_edit("WAL", "-wal"),
                                            killed_in_an_edit("DELETE", "-journal")};
    static const std::string victim = folder() + "/thesis", victims_content = "years of work";
    input.ConsumeIntegral<uint8_t>(); // who looks at it
    const auto whole = input.ConsumeIntegral<uint8_t>();
    Files files = kinds[whole % kinds.size()];
    constexpr int most_changes = 16;
    for (int i = 0; i < most_changes && input.remaining_bytes() >= 5; ++i) {
        const auto how = input.ConsumeIntegral<uint8_t>();
        std::string& changed = (how & 1) != 0 && !files.beside.empty() ? files.beside : files.trace;
        const size_t at = input.ConsumeIntegralInRange<uint32_t>(0, 0xFFFFFF) % changed.size();
        const std::string bytes = input.ConsumeBytesAsString(1 + how / 2 % 32);
        changed.replace(at, bytes.size(), bytes);
    }
    if ((whole & 0x10) != 0) {
        files.trace.resize(files.trace.size() * (whole >> 5) / 8);
    }
    if ((whole & 8) != 0 && !files.beside.empty()) {
        files.beside += test::super_journal(victim, 512);
    }
    write_bytes(trace_path(), files.trace);
    for (const char* suffix : {"-wal", "-journal"}) {
        if (std::string_view(suffix) == files.suffix) {
            write_bytes(trace_path() + suffix, files.beside);
        } else {
            unlink((trace_path() + suffix).c_str());
        }
    }
    if (access(victim.c_str(), F_OK) != 0) {
        write_bytes(victim, victims_content);
    }
    if ((whole & 4) != 0) {
        extend_with_nothing(trace_path(), int64_t{1} << 36);
    }
    const auto before = names_in(folder());
    look_at_trace(trace_path(), whole_input);
    if (names_in(folder()) != before) {
        fail("reading made or deleted a file");
    }
    if ((whole & 4) == 0 && read_bytes(trace_path()) != files.trace) {
        fail("reading changed the trace");
    }
    if (files.suffix[0] != '\0' && read_bytes(trace_path() + files.suffix) != files.beside) {
        fail("reading changed the journal");
    }
    if (read_bytes(victim) != victims_content) {
        fail("reading changed another file");
    }
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    schedscope::fuzz::give_sqlite_plain_memory();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    schedscope::fuzz::run({reinterpret_cast<const char*>(data), size});
    return 0;
}
