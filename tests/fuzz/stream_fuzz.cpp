// Streams of other programs. An input is the records of a block, which is given twice, as of two evaluations; or, where it
// begins as a stream does, a whole stream. What is no stream is said in one line; what is stored of it, every reader can look
// at, in memory and as a trace.

#include "runtime/error.h"
#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/trace_look.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/traces/faces.h"
#include "traces/format/schedscope_stream.h"
#include "traces/import/import_log.h"
#include "traces/store/live_store.h"
#include "traces/store/writer.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace schedscope::fuzz {

namespace {

void add_block(std::string& stream, int64_t evaluation, std::string_view records) {
    const std::string padded = std::string(records) + std::string((8 - records.size() % 8) % 8, '\0');
    const uint64_t mark = SSCP_MARK ^ stream.size(), bytes = SSCP_BLOCK_HEADER + padded.size(), none = 0;
    const int64_t time = 1000;
    for (const void* field :
         {static_cast<const void*>(&mark), static_cast<const void*>(&bytes), static_cast<const void*>(&evaluation),
          static_cast<const void*>(&time), static_cast<const void*>(&none)}) {
        stream.append(static_cast<const char*>(field), 8);
    }
    stream += padded;
}

std::string stream_of(std::string_view input) {
    const uint64_t mark = SSCP_MARK;
    if (input.size() >= 8 && std::memcmp(input.data(), &mark, 8) == 0) {
        return std::string(input);
    }
    const uint32_t hello[] = {16, SSCP_HELLO, SSCP_MAJOR, SSCP_MINOR};
    std::string stream;
    add_block(stream, SSCP_UNKNOWN_64, {reinterpret_cast<const char*>(hello), sizeof hello});
    add_block(stream, 0, input);
    add_block(stream, 1, input);
    return stream;
}

template <typename F> void in_one_line(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        expect_of_input(error);
        const std::string_view sentence = error.what();
        if (sentence.size() > 800 || sentence.find('\n') != std::string_view::npos) {
            fail("not one short line", error.what());
        }
    }
}

} // namespace

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace schedscope;
    static const fuzz::NamedMemoryFile file;
    static const bool plain = (fuzz::give_sqlite_plain_memory(), true);
    static_cast<void>(plain);
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    file.put(fuzz::stream_of(input));
    const size_t chance = fuzz::chance_of(input);
    const auto store = std::make_shared<LiveStore>();
    fuzz::in_one_line([&] { import_file(file.path(), *store); });
    fuzz::in_one_line([&] { // what came before the damage is there as well
        store->for_each(0, store->n_steps(), [](const Record&) {});
        if (chance % 8 == 0) {
            const auto faces = test::trace_faces();
            faces[chance / 8 % faces.size()].look(store);
        }
    });
    if (chance % 64 == 1) {
        const std::string path = fuzz::scratch_folder() + "/streamed";
        TraceWriter writer(path);
        fuzz::in_one_line([&] { import_file(file.path(), writer); });
        writer.close();
        if (store->n_steps() > 0) {
            const auto look = [&] { fuzz::look_at_trace(path, input); };
            look();
        }
    }
    return 0;
}
