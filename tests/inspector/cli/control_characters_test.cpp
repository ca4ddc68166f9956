// Names from a trace or a model may hold anything: a terminal gets none of it raw, and a line stays a line.
#include "tests/inspector/cli/files.h"
#include "tests/inspector/cli/program.h"

#include <gmock/gmock.h>

namespace schedscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view plain = "attn_norm-0", evil = "a\x1b[2J\n\x7f\xC2\x9B-0"; // as long, so that a file stays whole
static_assert(plain.size() == evil.size());

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

void expect_printable(const Outcome& outcome, const std::string& command) {
    for (const std::string& text : {outcome.out, outcome.err}) {
        for (const char c : text) {
            EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')) << command << ": " << int{c};
        }
        EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos) << command;
    }
}

TEST(ControlCharacters, OfATraceReachNoTerminal) {
    const std::string sample = SCHEDSCOPE_SOURCE_DIR "/traces/samples/partial-offload.trace";
    const Folder folder;
    std::string bytes = read_bytes(sample);
    replace_all(bytes, plain, evil);
    write_bytes(folder / "t.trace", bytes);
    const auto commands = [](const std::string& trace, const std::string& other, std::string_view tensor) {
        std::vector<std::vector<std::string>> all{{"show", trace},
                                                  {"explain", trace, std::string(tensor), "--eval", "0"},
                                                  {"replay", trace, "--set", "ngl=0"},
                                                  {"diff", trace, other},
                                                  {"diff", trace, other, "--all"}};
        for (const char* what :
             {"passes", "assignments", "splits", "copies", "fusion", "memory", "kernels", "tokens", "reuse", "values"}) {
            all.push_back({"show", trace, "--what", what, "--eval", "0"});
        }
        return all;
    };
    const std::string other = SCHEDSCOPE_SOURCE_DIR "/traces/samples/all-cpu.trace";
    const auto of_evil = commands(folder / "t.trace", other, evil), of_plain = commands(sample, other, plain);
    int named = 0;
    for (size_t i = 0; i < of_evil.size(); ++i) {
        const Outcome outcome = run(of_evil[i]), expected = run(of_plain[i]);
        const std::string command = ::testing::PrintToString(of_plain[i]);
        EXPECT_EQ(outcome.code, expected.code) << command << outcome.err;
        expect_printable(outcome, command);
        named += outcome.out.find("a?[2J\\n?"
                                  "?-0") != std::string::npos
                     ? 1
                     : 0;
        if (of_evil[i][0] != "diff") { // which aligns tensors by their names
            EXPECT_EQ(count(outcome.out, "\n"), count(expected.out, "\n")) << command;
        }
    }
    EXPECT_GE(named, 6) << "of them are about the tensor";
}

TEST(ControlCharacters, OfAnErrorReachNoTerminal) {
    const std::string sample = SCHEDSCOPE_SOURCE_DIR "/traces/samples/all-cpu.trace";
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"explain", sample, std::string(evil)},
                                                      {"show", std::string(evil)},
                                                      {"show", sample, "--" + std::string(evil)},
                                                      {std::string(evil)}}) {
        const Outcome outcome = run(arguments);
        EXPECT_NE(outcome.code, 0);
        expect_printable(outcome, arguments[0]);
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    }
}

TEST(ControlCharacters, OfAFileNameReachNoTerminal) {
    const std::string sample = SCHEDSCOPE_SOURCE_DIR "/traces/samples/all-cpu.trace";
    const Folder folder;
    const std::string picture = folder / ("p" + std::string(evil) + ".dot");
    const Outcome outcome = run({"dot", sample, "--pass", "all", "-o", picture});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    expect_printable(outcome, "dot");
    EXPECT_EQ(count(outcome.out, "\n"), count(outcome.out, ".dot")) << "a line each\n" << outcome.out;
}

TEST(ControlCharacters, OfAModelReachNoTerminal) {
    const Folder folder;
    ASSERT_EQ(run({"synth", "llama", "-o", folder / "m.gguf"}).code, 0);
    std::string bytes = read_bytes(folder / "m.gguf");
    replace_all(bytes, "output_norm.weight", "ou\x1b[2J\nnorm.weight");
    write_bytes(folder / "m.gguf", bytes);
    const Outcome outcome = run({"gguf", folder / "m.gguf"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    expect_printable(outcome, "gguf");
    EXPECT_THAT(outcome.out, HasSubstr("ou?[2J\\nnorm.weight"));
}

} // namespace
} // namespace schedscope::testing
