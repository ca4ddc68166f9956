// A stream that is cut at any byte, and one that somebody wrote to do harm.

#include "tests/support/sample.h"
#include "tests/support/traces/faces.h"
#include "tests/support/traces/sample_run.h"
#include "tests/support/traces/stream_recorder.h"
#include "tests/traces/stream/streamed.h"

#include <cstring>
#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string a_stream() {
    StreamInFile file;
    StreamRecorder recorder(file.stream);
    SampleRun run(recorder, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(1, 1, 2));
    run.evaluate_again();
    sscp_close(&file.stream);
    return file.bytes();
}

uint32_t number_at(const std::string& bytes, size_t at) {
    uint32_t number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

/// Everything that readers do with a trace is done with what was stored.
void look(const ImportedStream& imported) {
    for (const Face& face : trace_faces()) {
        try {
            face.look(imported.store);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input) << face.name << ": " << error.what();
        }
    }
}

TEST(CutStream, KeepsAllBlocksThatAreCompleteWhereverItEnds) {
    const std::string whole = a_stream();
    // Records by where the block ends that holds them.
    std::vector<std::pair<size_t, Step>> ends;
    for (size_t at = 0; at < whole.size(); at += number_at(whole, at + 8)) {
        const size_t end = at + number_at(whole, at + 8);
        ends.emplace_back(end, ImportedStream::bytes(whole.substr(0, end)).store->n_steps());
    }
    ASSERT_GT(ends.back().second, 50);
    ASSERT_GT(ends.size(), 30U);
    Step expected = 0;
    size_t block = 0;
    for (size_t n = 8; n <= whole.size(); ++n) {
        if (block < ends.size() && n == ends[block].first) {
            expected = ends[block++].second;
        } else if (n % 7 != 0) {
            continue;
        }
        const ImportedStream cut = ImportedStream::bytes(whole.substr(0, n));
        ASSERT_EQ(cut.error, "") << n;
        ASSERT_EQ(cut.store->n_steps(), expected) << n;
        ASSERT_EQ(cut.result.notes.empty(), n == whole.size()) << n;
    }
    EXPECT_EQ(block, ends.size());
}

TEST(CutStream, SaysHowItEnds) {
    const std::string whole = a_stream();
    const size_t last = whole.size() - 48; // the end is a block of one empty record
    EXPECT_EQ(ImportedStream::bytes(whole.substr(0, last)).result.notes,
              std::vector<std::string>{"the stream has no end: the program was killed, or still runs"});
    EXPECT_EQ(ImportedStream::bytes(whole.substr(0, whole.size() - 1)).result.notes,
              std::vector<std::string>{"the stream ends within a block: the program was killed; what was complete is here"});
    EXPECT_THAT(ImportedStream::bytes(whole.substr(0, 7)).error, HasSubstr("no line of a ggml scheduler is in it"));
}

TEST(HostileStream, IsStoredOrRefusedInOneLineWhateverByteIsWrong) {
    const std::string whole = a_stream();
    int n_refused = 0, n_taken = 0;
    Sample sample;
    for (size_t at = 8; at < whole.size(); at += at < 6000 ? 1 : 5) {
        for (const unsigned char with : std::initializer_list<unsigned char>{0x00, 0xFF, 0x80}) {
            std::string bytes = whole;
            if (static_cast<unsigned char>(bytes[at]) == with || !sample.takes()) {
                continue;
            }
            bytes[at] = static_cast<char>(with);
            const ImportedStream imported = ImportedStream::bytes(bytes);
            EXPECT_THAT(imported.error, ::testing::Not(HasSubstr("\n"))) << at;
            EXPECT_THAT(imported.error, ::testing::Not(StartsWith("another kind"))) << at;
            EXPECT_LT(imported.error.size(), 400U);
            ++(imported.error.empty() ? n_taken : n_refused);
            if ((at + with) % 17 == 0) {
                look(imported);
            }
        }
    }
    const int least = sanitized ? 200 : 1000;
    EXPECT_GT(n_refused, least);
    EXPECT_GT(n_taken, least);
}

/// What is said of a stream that has these records after the small program's kinds.
template <typename F> std::string said(F&& write) {
    StreamInFile file;
    SmallProgram p(file.stream);
    write(p);
    const ImportedStream imported = ImportedStream::file(file.path());
    const SessionInfo session = imported.store->session();
    for (const BackendInfo& backend : session.backends) { // what was sound is there, and nothing else
        EXPECT_LT(backend.default_buffer_type, std::ssize(session.buffer_types));
        EXPECT_EQ(backend.supports_buffer_type.size(), session.buffer_types.size());
    }
    const std::string& error = imported.error;
    const size_t name = error.find(": ");
    return name == std::string::npos ? error : error.substr(name + 2);
}

TEST(HostileStream, TheLineNamesThePlaceAndWhatIsWrong) {
    const auto plan = [](SmallProgram& p, auto&& more) {
        p.describe(0);
        SmallBlock block(p.stream, 0);
        p.plan(block, 0);
        more(block);
        block.commit();
    };
    const std::string of_plan = said([&](SmallProgram& p) { plan(p, [&](SmallBlock& b) { b.put(p.kernel, 2, 1, 10, 20); }); });
    EXPECT_THAT(of_plan, StartsWith("the block at byte "));
    EXPECT_THAT(of_plan, HasSubstr(": execute: first is 2"));
    EXPECT_THAT(said([&](SmallProgram& p) { plan(p, [&](SmallBlock& b) { b.put(p.kernel, -2, 1, 10, 20); }); }),
                HasSubstr(": execute: first is -2"));
    EXPECT_THAT(said([&](SmallProgram& p) { plan(p, [&](SmallBlock& b) { b.put(p.assign, 1, 7, -1); }); }),
                HasSubstr(": assign: after is 7"));
    EXPECT_THAT(said([&](SmallProgram& p) { plan(p, [&](SmallBlock& b) { b.put(p.kernel, 1, 1, 1, 1, 1); }); }),
                HasSubstr("execute: a record of 20 bytes does not have its fields"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    plan(p, [&](SmallBlock& b) {
                        b.put(p.begin, 1);
                        b.put(p.begin, 1);
                    });
                }),
                HasSubstr("evaluation 0 begins twice"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream, 0).put(999, 1).commit(); }),
                HasSubstr("a record is of kind 999, which was not said"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream).put(p.kernel, 1, 1, 10, 20).commit(); }),
                HasSubstr("its records belong to no evaluation"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream, 0).put(p.tensor, 0, 0, 0, 0, 0).commit(); }),
                HasSubstr("tensor: no graph stands before it in the block"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream, 0).put(p.graph, 0, 1).put(p.tensor, 1, 0, 0, 0, 0).commit(); }),
                HasSubstr("tensor: name is text 1 of 0"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream, 0).put(p.graph, 0, 1000000).commit(); }),
                HasSubstr("graph: n_tensors is 1000000"));
    EXPECT_THAT(said([&](SmallProgram& p) { SmallBlock(p.stream, 0).put(p.graph, 0, 1).put(p.tensor, 0, 0, 0, -1, 5).commit(); }),
                HasSubstr("tensor: src is 5"));
    EXPECT_THAT(
        said([&](SmallProgram& p) {
            SmallBlock(p.stream, 0).put(p.graph, 0, 1).put(p.tensor, 0, 0, -1, 0, 0).put(p.tensor, 0, 0, -1, 0, 0).commit();
        }),
        HasSubstr("tensor: id is left out"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    p.describe(4);
                    p.describe(4);
                }),
                HasSubstr("graph: 4 was described before"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t backend = sscp_kind(&p.stream, "backend id:i32 default_buffer_type:i32");
                    SmallBlock(p.stream).put(backend, 0, 7).commit();
                }),
                HasSubstr("backend: default_buffer_type is 7"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t backend = sscp_kind(&p.stream, "backend id:i32 description:text");
                    const std::string text(10'000, 'x'); // what is kept with each change is bounded
                    for (int i = 0; i < 200; ++i) {
                        SmallBlock block(p.stream);
                        block.put(backend, 0, i < 100 ? block.text(text.c_str()) : 0).commit();
                    }
                }),
                HasSubstr("words of its own change too often"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t settings = sscp_kind(&p.stream, "settings n_layers:i32 n_stages:i32");
                    SmallBlock(p.stream).put(settings, 4, 0).commit();
                }),
                HasSubstr("settings: n_stages is 0"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t share = sscp_kind(&p.stream, "device_share share:i32");
                    SmallBlock(p.stream).put(share, -1).commit();
                }),
                HasSubstr("device_share: share is -1"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t override = sscp_kind(&p.stream, "tensor_override position:i32");
                    SmallBlock(p.stream).put(override, 1).commit();
                }),
                HasSubstr("tensor_override: position is 1"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t laid_out = sscp_kind(&p.stream, "laid_out_type type:text");
                    SmallBlock block(p.stream);
                    block.put(laid_out, block.text("q4_9")).commit();
                }),
                HasSubstr("laid_out_type: type is none that can be laid out"));
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t laid_out = sscp_kind(&p.stream, "laid_out_type position:i32");
                    for (int i = 0; i <= ordinal(Type::count); ++i) {
                        SmallBlock(p.stream).put(laid_out, i).commit();
                    }
                }),
                HasSubstr("laid_out_type: more types are laid out than there are"));
    for (const char* words : {"", "Assign x:i32", "assign x:i33", "assign x", "assign x:i32*0", "assign x:i32*100",
                              "assign x:i32 x:i32", "assign x:i32[] y:i32", "assign cause:text\n"}) {
        EXPECT_THAT(said([&](SmallProgram& p) { sscp_kind(&p.stream, words); }), HasSubstr("a kind of records is said to be '"))
            << words;
    }
    EXPECT_THAT(said([&](SmallProgram& p) {
                    const uint32_t numbers = sscp_kind(&p.stream, "assign cause:i32");
                    SmallBlock(p.stream, 0).put(numbers, 3).commit();
                }),
                HasSubstr("assign: cause is no text"));
}

TEST(HostileStream, OfAnotherVersionIsRefused) {
    std::string bytes = a_stream();
    bytes[48] = 2;
    EXPECT_THAT(
        ImportedStream::bytes(bytes).error,
        HasSubstr("the stream is of version 2.1, and this program reads 1.x: write it with this program's schedscope_stream.h"));
    std::string minor = a_stream();
    minor[52] = 9;
    EXPECT_EQ(ImportedStream::bytes(minor).error, "");
}

TEST(HostileStream, MakesNoMoreRecordsThanALimit) {
    StreamInFile file;
    StreamRecorder recorder(file.stream);
    SampleRun run(recorder, session({"CPU"}));
    run.evaluate(blocks(1, 1, 1));
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path(), {.records = 20});
    EXPECT_THAT(imported.error, HasSubstr("more than 20 records; the trace ends there"));
    EXPECT_EQ(imported.store->n_steps(), 20);
}

} // namespace
} // namespace schedscope::test
