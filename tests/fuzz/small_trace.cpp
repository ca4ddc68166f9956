#include "tests/fuzz/small_trace.h"

#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/schema.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// The C library's own names for its functions, which sanitizers don't replace.
extern "C" {
void* __libc_malloc(size_t);         // NOLINT
void* __libc_realloc(void*, size_t); // NOLINT
void __libc_free(void*);             // NOLINT
}

namespace schedscope::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr rlim_t largest_file = rlim_t{64} << 20;

/// What grows beyond that ends the program by SIGXFSZ.
void limit_files(rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
}

class ScratchFolder {
public:
    ScratchFolder() {
        std::string name = fs::exists("/dev/shm") ? "/dev/shm/test-fuzz-XXXXXX" : "/tmp/test-fuzz-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        path = name;
        limit_files(largest_file);
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    std::string path;
};

} // namespace

void record_small_run(Recorder& to) {
    using namespace test;
    SampleRun run(to, session({"Vulkan0", "CPU"}), 2);
    run.evaluate(blocks(1, 1, 2));
    run.evaluate_again();
    run.evaluate(test::random_sketch({3, 1, 1}, run.session()), GraphKind::decode);
    // What the sample run has none of.
    to.set_evaluation(2);
    to.add(record::Pin{0, 0, 0, to.intern("-ot")});
    to.add(record::Value{});
    to.add(record::ValueElement{});
    to.add(record::ValueBucket{});
    to.add(record::Difference{});
    to.add(record::Reserve{0, 1, 0});
    to.add(record::Alternative{0, to.intern("fa=off")});
    to.add(record::PlanBackend{0, 0, 0, 0});
    to.add(record::Kept{0, 0});
    to.add(record::Verdict{to.intern("b6851..b7041"), 2, 1, 1, 1, 0, 0, to.intern("split 0 begins at node 1"), 0});
}

namespace {

void make_trace(const std::string& path) {
    TraceWriter writer(path);
    record_small_run(writer);
    writer.close();
    sqlite::Database database(path, sqlite::Database::Mode::edit);
    for (const schema::Entity& view : schema::views()) { // which nothing reads, and which take long to read past
        database.execute("DROP VIEW " + view.name);
    }
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM");
}

} // namespace

void give_sqlite_plain_memory() {
    // A block begins with its size, which SQLite asks for.
    constexpr size_t head = 16;
    static const sqlite3_mem_methods plain{
        [](int n) -> void* {
            auto* const block = static_cast<char*>(__libc_malloc(head + static_cast<size_t>(n)));
            return block == nullptr ? nullptr : (*reinterpret_cast<int*>(block) = n, block + head);
        },
        [](void* p) { __libc_free(static_cast<char*>(p) - head); },
        [](void* p, int n) -> void* {
            auto* const block = static_cast<char*>(__libc_realloc(static_cast<char*>(p) - head, head + static_cast<size_t>(n)));
            return block == nullptr ? nullptr : (*reinterpret_cast<int*>(block) = n, block + head);
        },
        [](void* p) { return *reinterpret_cast<int*>(static_cast<char*>(p) - head); },
        [](int n) { return (n + 7) & ~7; },
        [](void*) { return SQLITE_OK; },
        [](void*) {},
        nullptr,
    };
    sqlite3_config(SQLITE_CONFIG_MALLOC, &plain);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
}

const std::string& scratch_folder() {
    static const ScratchFolder folder;
    return folder.path;
}

std::string small_trace() {
    const std::string path = scratch_folder() + "/small";
    make_trace(path);
    std::string bytes = read_bytes(path);
    fs::remove(path);
    return bytes;
}

NamedMemoryFile::NamedMemoryFile() : file_(memfd_create("trace", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {}

void NamedMemoryFile::put(const std::string& bytes) const {
    const auto n = static_cast<ssize_t>(bytes.size());
    if (pwrite(file_, bytes.data(), bytes.size(), 0) != n || ftruncate(file_, n) != 0) {
        std::abort();
    }
}

std::string read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void extend_with_nothing(const std::string& path, int64_t bytes) {
    limit_files(RLIM_INFINITY);
    if (truncate(path.c_str(), bytes) != 0) {
        std::abort();
    }
    limit_files(largest_file);
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace schedscope::fuzz
