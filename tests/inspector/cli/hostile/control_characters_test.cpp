// Names from a trace or a model may hold anything: a terminal gets none of it raw, and a line stays a line.
#include "runtime/gguf/writer.h"
#include "runtime/system/utf8.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/typed_out.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <regex>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

using nlohmann::json;

constexpr std::string_view plain = "attn_norm-0";
// As long, so that a file stays whole.
constexpr std::string_view evil = "a\x1b[2J\n\x7f\xC2\x9B-0", turned = "a\u202Eb\u200Fc-0", broken = "a\x9b[2J\x85-0\xE2\x80\xAA";
static_assert(plain.size() == evil.size() && plain.size() == turned.size() && plain.size() == broken.size());

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

/// What a terminal would obey, or turn other letters around by.
bool is_obeyed(char32_t c) {
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
}

/// Only what can be seen, in UTF-8.
void expect_printable(std::string_view text, const std::string& command) {
    for (std::string_view rest = text; !rest.empty();) {
        const std::optional<char32_t> c = take_character(rest);
        ASSERT_TRUE(c && !is_obeyed(*c)) << command << ": " << (c ? std::to_string(*c) : "no UTF-8") << " at "
                                         << text.size() - rest.size() << '\n'
                                         << ::testing::PrintToString(std::string(text));
    }
}

void expect_printable(const Outcome& outcome, const std::string& command) {
    expect_printable(outcome.out, command);
    expect_printable(outcome.err, command);
}

/// What a terminal gets of standard output and standard error, but for progress of its own that takes itself back.
std::string at_a_terminal(const std::vector<std::string>& arguments, int code = 0) {
    TypedOut terminal;
    Program program(arguments, {.out_descriptor = terminal.end_of_program(), .err_descriptor = terminal.end_of_program()});
    EXPECT_EQ(terminal.wait_for(program).code, code) << terminal.text();
    return std::regex_replace(terminal.text(), std::regex("\r\x1B\\[K(laying out [^\r\n\x1B]*)?"), "");
}

TEST(ControlCharacters, OfATraceReachNoTerminal) {
    const std::string sample = paths::sample("partial-offload");
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
        for (const std::string& what : topics()) {
            all.push_back({"show", trace, "--what", what, "--eval", "0"});
        }
        return all;
    };
    const std::string other = paths::sample("all-cpu");
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
    const std::string sample = paths::sample("all-cpu");
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
    const std::string sample = paths::sample("all-cpu");
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

TEST(ControlCharacters, ThatTurnLettersAroundReachNoTerminal) {
    const Folder folder;
    for (const std::string_view name : {turned, broken}) {
        std::string bytes = read_bytes(paths::sample("partial-offload"));
        replace_all(bytes, plain, name);
        const std::string trace = folder / "t.trace";
        write_bytes(trace, bytes);
        int named = 0;
        for (const char* what : {"passes", "assignments", "splits", "fusion", "memory", "kernels"}) {
            for (const std::string& text :
                 {run({"show", trace, "--what", what, "--eval", "0"}).out, at_a_terminal({"show", trace, "--what", what})}) {
                expect_printable(text, what);
                named += static_cast<int>(count(text, name == turned ? "a?b?c-0" : "[2J"));
            }
        }
        EXPECT_GT(named, 0);
        expect_printable(at_a_terminal({"dot", trace}), "dot");
    }
}

TEST(ControlCharacters, AreEscapedInJson) {
    const Folder folder;
    for (const std::string_view name : {evil, turned}) {
        std::string bytes = read_bytes(paths::sample("partial-offload"));
        replace_all(bytes, plain, name);
        const std::string trace = folder / "t.trace";
        write_bytes(trace, bytes);
        std::vector<std::vector<std::string>> commands{{"show", trace, "--json"},
                                                       {"explain", trace, std::string(name), "--eval", "0", "--json"},
                                                       {"replay", trace, "--set", "ngl=0", "--json"},
                                                       {"diff", trace, paths::sample("all-cpu"), "--json"},
                                                       {"export", trace, "--jsonl", "-"}};
        for (const char* what : {"passes", "assignments", "splits", "copies", "fusion", "memory", "kernels", "tokens"}) {
            commands.push_back({"show", trace, "--what", what, "--eval", "0", "--json"});
        }
        int named = 0;
        for (const std::vector<std::string>& command : commands) {
            const std::string out = run(command).out;
            expect_printable(out, ::testing::PrintToString(command));
            for (const std::string& line : lines_of(out)) {
                const json read = json::parse(line);
                named += read.dump().find(json(std::string(name)).dump()) != std::string::npos ? 1 : 0;
            }
        }
        EXPECT_GE(named, 6) << "of them are about the tensor";
    }
}

// A model of others.

constexpr size_t first_word = 293; // of the made vocabulary, behind control tokens, bytes and letters
struct SentPiece {
    std::string sent, shown;
};
const std::vector<SentPiece> pieces{{"\x1b]52;c;ZXZpbA==\x07", "?]52;c;ZXZpbA==?"},
                                    {"a\x1b[2Jb", "a?[2Jb"},
                                    {"c\xC2\x9B[d", "c?[d"},
                                    {"e\u202Ef\u2066g", "e?f?g"},
                                    {"h\x9b[i", "h\uFFFD[i"},
                                    {"j\x7fk\x85l", "j?k\uFFFDl"},
                                    {"m\rn\to\np", "m?n\to\np"}};

std::string four_times(const std::string& text) { return text + text + text + text; }

/// A small model whose words are these, and whose name and keys are no better.
void write_model(const std::string& path, std::vector<std::pair<std::string, std::string>> texts = {}) {
    ASSERT_EQ(run({"synth", "llama", "--seed", "1", "-o", path + ".plain"}).code, 0);
    const gguf::File file = gguf::File::open(path + ".plain");
    gguf::Writer writer;
    for (const gguf::MetadataEntry& entry : file.metadata()) {
        writer.set(entry.key, entry.value);
    }
    std::vector<std::string> words;
    for (const std::string_view word : file.require_string_array("tokenizer.ggml.tokens")) {
        words.emplace_back(word);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
        words[first_word + i] = pieces[i].sent;
    }
    writer.set("tokenizer.ggml.tokens", words);
    writer.set("general.name", "model \x1b]0;evil\x07\u202E\n");
    writer.set("x\x1b[2J\u202E", "y\x9bz");
    for (const auto& [key, value] : texts) {
        writer.set(key, value);
    }
    for (const gguf::FileTensor& tensor : file.tensors()) {
        writer.add(tensor.name, tensor.type, tensor.ne, {tensor.data, tensor.bytes});
    }
    writer.write(path);
}

std::vector<std::string> always(const char* command, const std::string& model, const std::string& biases, const char* n = "4") {
    std::vector<std::string> arguments{command, "-m", model, "--device", "cpu", "-p", "a", "-n", n, "--temp", "0"};
    for (const std::string& bias : lines_of(biases)) {
        arguments.insert(arguments.end(), {"--logit-bias", bias});
    }
    return arguments;
}

TEST(ControlCharacters, OfTokensReachAPipeAndNoTerminal) {
    const Folder folder;
    const std::string model = folder / "m.gguf", trace = folder / "t.trace";
    write_model(model);
    for (size_t i = 0; i < pieces.size(); ++i) {
        const std::string token = std::to_string(first_word + i) + "+10000";
        const std::string text = four_times(pieces[i].sent) + "\n", shown = four_times(pieces[i].shown) + "\n";
        EXPECT_EQ(run(always("run", model, token)).out, text) << "byte by byte";
        EXPECT_EQ(at_a_terminal(always("run", model, token)), shown);

        std::vector<std::string> record = always("record", model, token);
        record.insert(record.end(), {"--force", "-o", trace});
        EXPECT_EQ(run(record).out, text);
        EXPECT_EQ(at_a_terminal(record), shown + "wrote " + trace + ": 4 evaluations; next: schedscope inspect " + trace + "\n");
        std::vector<std::vector<std::string>> readers{{"show", trace, "--what", "tokens"},
                                                      {"show", trace, "--what", "tokens", "--json"},
                                                      {"export", trace, "--jsonl", "-"}};
        if (i == 0) {
            readers.insert(readers.end(), {{"show", trace},
                                           {"show", trace, "--json"},
                                           {"export", trace, "--html", "-"},
                                           {"diff", trace, paths::sample("all-cpu")},
                                           {"dot", trace}});
        }
        for (const std::vector<std::string>& reader : readers) {
            expect_printable(at_a_terminal(reader, reader[0] == "diff" ? 1 : 0), ::testing::PrintToString(reader));
        }
    }
    expect_printable(at_a_terminal({"gguf", model}), "gguf");
    expect_printable(at_a_terminal({"gguf", model, "--json"}), "gguf --json");
    const Outcome piped = run({"gguf", model, "--json"});
    expect_printable(piped, "gguf --json");
    EXPECT_EQ(json::parse(piped.out)["metadata"]["tokenizer.ggml.tokens"][first_word + 3], pieces[3].sent);
}

TEST(ControlCharacters, CutBetweenTokensReachNoTerminal) {
    const Folder folder;
    const std::string model = folder / "m.gguf";
    write_model(model);
    // The bytes C2 and 9B in turns: each makes the other one likelier. Alone, neither is a character.
    std::vector<std::string> arguments = always("run", model, "197+10000\n158+9950");
    arguments.insert(arguments.end(), {"--frequency-penalty", "75"});
    EXPECT_EQ(run(arguments).out, "\xC2\x9B\xC2\x9B\n");
    EXPECT_EQ(at_a_terminal(arguments), "??\n");
    // A character of three bytes comes as one.
    arguments = always("run", model, "229+10000\n137+9990\n149+9980", "3");
    arguments.insert(arguments.end(), {"--presence-penalty", "100"});
    EXPECT_EQ(run(arguments).out, "→\n");
    EXPECT_EQ(at_a_terminal(arguments), "→\n");
}

TEST(ControlCharacters, OfAFileLeaveAnErrorOneLine) {
    const Folder folder;
    const std::string model = folder / "m.gguf", evil_word = "l\x1b[2J\n\u202E" + std::string(100'000, 'x');
    for (const char* key : {"general.architecture", "tokenizer.ggml.model", "llama.rope.scaling.type"}) {
        write_model(model, {{key, evil_word}});
        const Outcome outcome = run({"run", "-m", model, "-p", "a", "-n", "1", "--device", "cpu"});
        EXPECT_NE(outcome.code, 0) << key;
        expect_printable(outcome, key);
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("l?[2J\\n?xxx"));
        EXPECT_LT(outcome.err.size(), 1000U) << key << ": what is too long to be read is cut";
    }
    for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"weights", "wei\n\xC2\x9Bs"},
                                   {"RMS_NORM", "RM\n\u202EAR"},
                                   {"layer", "\x9b"
                                             "2J\n-"}}) {
        ASSERT_EQ(from.size(), to.size());
        std::string bytes = read_bytes(paths::sample("partial-offload"));
        replace_all(bytes, from, to);
        write_bytes(folder / "t.trace", bytes);
        const Outcome outcome = run({"show", folder / "t.trace", "--what", "assignments"});
        EXPECT_EQ(outcome.code, 3) << from;
        expect_printable(outcome, std::string(from));
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    }
    write_model(model);
    const Outcome query = run({"run", "-m", model, "--watch", "op=\n\u202E\n" + std::string(10'000, '"')});
    EXPECT_EQ(query.code, 2);
    expect_printable(query, "query");
    EXPECT_EQ(count(query.err, "\n"), 1U) << query.err;
}

TEST(ControlCharacters, ReachNoScreen) {
    const Folder folder;
    for (const std::string_view name : {evil, turned, broken}) {
        std::string bytes = read_bytes(paths::sample("partial-offload"));
        replace_all(bytes, plain, name);
        write_bytes(folder / "t.trace", bytes);
        Terminal terminal(40, 120, {program_path(), "inspect", folder / "t.trace"});
        ASSERT_TRUE(terminal.shows("q quit")) << terminal.text();
        const char* const seen = name == evil ? "a·[2J↵··-0" : name == turned ? "a·b·c-0" : "a\uFFFD[2J\uFFFD-0·";
        terminal.press(name == turned ? "/c-0\n" : "/[2J\n");
        EXPECT_TRUE(terminal.shows(seen)) << terminal.text();
        terminal.press("q");
        EXPECT_EQ(terminal.wait_for_exit(), 0);
        for (const std::string_view raw : {"\xC2\x9B", "\u202E", "\u200F", "\u202A", "\x1b[2J\n\x7f"}) {
            EXPECT_FALSE(terminal.has_written(raw)) << ::testing::PrintToString(std::string(raw));
        }
    }
}

TEST(ControlCharacters, OfALiveRunReachNeitherScreenNorTerminal) {
    const Folder folder;
    const std::string model = folder / "m.gguf";
    write_model(model);
    for (size_t i = 0; i < pieces.size(); ++i) {
        std::vector<std::string> arguments = always("inspect", model, std::to_string(first_word + i) + "+10000");
        arguments.insert(arguments.begin(), program_path());
        Terminal terminal(40, 120, arguments);
        ASSERT_TRUE(terminal.shows("HELD")) << terminal.text();
        terminal.press("c");
        ASSERT_TRUE(terminal.shows("ENDED")) << terminal.text();
        terminal.press("Q");
        EXPECT_EQ(terminal.wait_for_exit(), 0);
        std::string shown = four_times(pieces[i].shown); // behind the inspector's end
        replace_all(shown, "\n", "\r\n");                // as the terminal's modes have it
        EXPECT_TRUE(terminal.has_written(shown + "\r\n")) << shown;
        EXPECT_FALSE(terminal.has_written(pieces[i].sent)) << shown;
    }
}

} // namespace
} // namespace schedscope::test
