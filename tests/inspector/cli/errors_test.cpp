// What can't be done is said in one line, with the documented exit code.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/gguf_bytes.h"
#include "tests/inspector/cli/harness/program.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

constexpr int usage = 2, input = 3, device = 4;

/// Runs the program, which must say no: this exit code, one line that names the program and holds `words`, nothing on standard
/// output.
void expect_refusal(const std::vector<std::string>& arguments, int code, const std::string& words, const Start& start = {}) {
    std::string command;
    for (const std::string& a : arguments) {
        command += " " + a;
    }
    SCOPED_TRACE(command);
    const Outcome outcome = run(arguments, start);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("schedscope: ")) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
}

// The command line.

TEST(WrongUsage, IsAnUnknownCommand) { expect_refusal({"frobnicate"}, usage, "frobnicate"); }

TEST(WrongUsage, IsAnUnknownOption) {
    expect_refusal({"run", "--frobnicate"}, usage, "--frobnicate");
    expect_refusal({"--frobnicate"}, usage, "schedscope --help");
    expect_refusal({"show", "t.trace", "-q"}, usage, "-q");
}

TEST(WrongUsage, IsWhatIsMissing) {
    expect_refusal({"run"}, usage, "-m");
    expect_refusal({"run", "-m"}, usage, "-m: ");
    expect_refusal({"record", "-m", "x.gguf"}, usage, "output");
    expect_refusal({"inspect"}, usage, "-m");
    for (const char* command : {"show", "explain", "dot", "replay", "export"}) {
        expect_refusal({command}, usage, "trace");
    }
    expect_refusal({"explain", "t.trace"}, usage, "tensor");
    expect_refusal({"gguf"}, usage, "file");
}

TEST(WrongUsage, IsOneArgumentTooMany) {
    expect_refusal({"run", "-m", "x.gguf", "-p", "one", "two"}, usage, "two");
    expect_refusal({"demo", "more"}, usage, "more");
}

TEST(WrongUsage, IsTwoPrompts) {
    expect_refusal({"run", "-m", "x.gguf", "-p", "one", "-f", "two"}, usage, "--file");
    expect_refusal({"run", "-m", "x.gguf", "-p", "one", "--tokens", "1,2"}, usage, "--tokens");
}

TEST(WrongUsage, IsANumberThatIsNone) {
    for (const char* option :
         {"-c", "-b", "-ub", "-t", "-tb", "-s", "--temp", "--top-k", "--top-p", "-ngl", "-ts", "--stages", "-n"}) {
        expect_refusal({"run", "-m", "x.gguf", option, "many"}, usage, "many");
    }
    for (const char* option : {"-ub", "-ngl", "-ts", "--temp", "--stages"}) { // a multi-letter option is named as it is typed
        expect_refusal({"run", "-m", "x.gguf", option, "many"}, usage, std::string(" ") + option);
    }
    expect_refusal({"run", "-m", "x.gguf", "-n", "-2"}, usage, "-2");
    expect_refusal({"run", "-m", "x.gguf", "-b", "0"}, usage, " -b 0: a whole number from 1 to ");
    expect_refusal({"run", "-m", "x.gguf", "-ngl", "99999999999999"}, usage, " -ngl");
    expect_refusal({"run", "-m", "x.gguf", "--stages", "3"}, usage, "3");
}

TEST(WrongUsage, SaysWhatIsWantedInstead) {
    for (const auto& [arguments, words] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"show", "t.trace", "--json=no"}, "--json: it takes no value"},
             {{"show", "t.trace", "--eval", "x"}, "--eval x: a whole number is wanted"},
             {{"dot", "t.trace", "--step", "3.5"}, "--step 3.5: a whole number is wanted"},
             {{"run", "-m", "x.gguf", "--temp", "hot"}, "--temp hot: a number is wanted"},
             {{"run", "-m", "x.gguf", "-t", "-3"}, "-t -3: a whole number from 0 to 4096 is wanted"},
             {{"run", "-m", "x.gguf", "-fa", "maybe"}, "-fa maybe: on, off or auto is wanted"},
             {{"run", "-m", "x.gguf", "--stages", "3"}, "--stages 3: 1 or 4 is wanted"},
             {{"show", "t.trace", "--eval"}, "--eval: its value is missing"},
             {{"run", "-m", "x.gguf", "--device", "blas", "--device", "cpu"},
              "--device: given 2 times, where one list is wanted: --device blas,cpu"},
             {{"verify", "-m", "x.gguf", "--device", "cpu", "--device", "blas", "--device", "cpu"},
              "--device: given 3 times, where one list is wanted: --device cpu,blas,cpu"},
             {{"run", "-m", "x.gguf", "-ngl", "1", "-ngl", "2"}, "-ngl: given 2 times, where one value is wanted"},
             {{"run", "-m"}, "-m: its value is missing"}}) {
        expect_refusal(arguments, usage, "schedscope: " + words + " (see schedscope " + arguments[0] + " --help)\n");
    }
}

TEST(WrongUsage, IsProcessorsThatAreNone) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
        {{"-C", "zz"}, "-C zz: a hexadecimal mask of processors is wanted"},
        {{"-C", "0"}, "-C 0: the mask names no processor"},
        {{"--cpu-mask", "0x"}, "-C 0x: the mask names no processor"},
        {{"-C", ""}, "-C : the mask names no processor"},
        {{"-C", "1\x1b[2J"}, "-C 1?[2J: a hexadecimal mask"},
        {{"-C", "1" + std::string(300, '0')}, "numbered from 0 to 1023"},
        {{"-Cr", "7"}, "-Cr 7: a range of processors is wanted, such as 0-7"},
        {{"--cpu-range", "5-3"}, "-Cr 5-3: the range ends before it begins"},
        {{"-Cr", "1023-"}, "-Cr 1023-: processors 1023 are not here; there are "},
        {{"-C", "8" + std::string(255, '0')}, ": processors 1023 are not here; there are "},
        {{"-C", "1", "-Cr", "x"}, "-Cr x: a range"},
    };
    for (const auto& [options, words] : refused) {
        std::vector<std::string> arguments{"run", "-m", model(), "-p", "Once", "-n", "1", "--device", "cpu"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        expect_refusal(arguments, usage, words);
    }
}

TEST(WrongUsage, IsAWordThatIsNoChoice) {
    expect_refusal({"run", "-m", "x.gguf", "-fa", "maybe"}, usage, "maybe");
    expect_refusal({"run", "-m", "x.gguf", "-ctk", "q3"}, usage, "q3");
    expect_refusal({"run", "-m", "x.gguf", "-ctv", "q3"}, usage, "q3");
}

TEST(WrongUsage, IsASettingThatFitsNoModel) {
    expect_refusal({"run", "-m", model(), "--device", "vulkan99"}, usage, "vulkan99");
    expect_refusal({"run", "-m", model(), "--device", "abacus"}, usage, "abacus");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--tokens", "1,512"}, usage, "512");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--tokens", "1,-1"}, usage, "-1");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--logit-bias", "5"}, usage, "--logit-bias 5");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--logits-all"}, usage, "--logits-out");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--seq", "Once"}, usage, "--seq");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--sampler", "0:magic"}, usage, "magic");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--sampler", "7:greedy"}, usage, "7");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--temp", "nan"}, usage, "temp");
}

TEST(WrongUsage, IsAPatternThatIsNoneOrMatchesNothing) {
    expect_refusal({"run", "-m", model(), "--device", "cpu", "-ot", "[=cpu"}, usage, "regular expression");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "-ot", "no_such_weight=cpu"}, usage, "no_such_weight");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "-ot", "ffn"}, usage, "PATTERN=DEVICE");
    expect_refusal({"run", "-m", model(), "--device", "cpu", "-ot", "ffn=abacus"}, usage, "abacus");
}

TEST(WrongUsage, IsAPromptLongerThanTheContext) {
    std::string tokens = "1";
    for (int i = 0; i < 600; ++i) {
        tokens += ",403";
    }
    expect_refusal({"run", "-m", model(), "--device", "cpu", "--tokens", tokens}, usage, "601");
}

TEST(WrongUsage, IsWhatATraceDoesNotHold) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    ASSERT_EQ(run({"record", "-m", model(), "-p", "Once", "-n", "3", "--device", "cpu", "-o", trace}).code, 0);
    expect_refusal({"explain", trace, "no-such-tensor"}, usage, "no-such-tensor");
    expect_refusal({"explain", trace, "norm-0@99999"}, usage, "norm-0@99999");
    expect_refusal({"explain", trace, "kq-0", "--eval", "99"}, usage, "--eval 99");
    expect_refusal({"dot", trace, "--eval", "99"}, usage, "--eval 99");
    expect_refusal({"dot", trace, "--step", "999999"}, usage, "999999");
    expect_refusal({"dot", trace, "--view", "clouds"}, usage, "clouds");
    expect_refusal({"dot", trace, "--pass", "6"}, usage, "--pass 6");
    expect_refusal({"show", trace, "--what", "clouds"}, usage, "clouds");
    for (const char* evaluation : {"99", "-1"}) {
        expect_refusal({"show", trace, "--what", "splits", "--eval", evaluation}, usage, std::string("--eval ") + evaluation);
    }
    expect_refusal({"show", trace, "--eval", "99"}, usage, "--eval");
    expect_refusal({"show", trace, "--what", "splits", "--pass", "6"}, usage, "--pass 6");
    expect_refusal({"replay", trace, "--set", "colour=red"}, usage, "--set colour=red: there is no 'colour'");
    expect_refusal({"replay", trace, "--set", "ot=ffn"}, usage, "--set ot=ffn: expected PATTERN=DEVICE");
    expect_refusal({"replay", trace, "--set", "ot=ffn=abacus"}, usage, "--set ot=ffn=abacus: there is no device 'abacus' (CPU)");
    expect_refusal({"replay", trace, "--set", "ot=[=cpu"}, usage, "--set ot=[=cpu: not a regular expression");
    expect_refusal({"replay", trace, "--set", "ot=no_such_weight=CPU"}, usage,
                   "--set ot=no_such_weight=CPU: the pattern matches no weight of the trace");
    expect_refusal({"replay", trace, "--set", "ts=1,-2"}, usage, "--set ts=1,-2: a share must be a number that is not negative");
    expect_refusal({"replay", trace, "--set", "nkvo=yes"}, usage, "--set nkvo=yes: on or off is wanted");
}

TEST(WrongUsage, IsAPictureOfAnUnknownKind) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "t.trace"}).code, 0);
    expect_refusal({"dot", folder / "t.trace", "-o", folder / "picture.jpg"}, usage, "picture.jpg");
    EXPECT_FALSE(exists(folder / "picture.jpg"));
}

TEST(WrongUsage, IsAnInspectorWithoutATerminal) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "t.trace"}).code, 0);
    expect_refusal({"inspect", folder / "t.trace"}, usage, "terminal");
    expect_refusal({"inspect", "-m", model(), "--device", "cpu"}, usage, "terminal");
    expect_refusal({"inspect", folder / "t.trace", "-m", model()}, usage, "choose one");
}

TEST(WrongUsage, IsAModelThatCanNotBeMade) {
    const Folder folder;
    expect_refusal({"synth", "gpt9", "-o", folder / "m.gguf"}, usage, "gpt9");
    expect_refusal({"synth", "llama", "--preset", "vast", "-o", folder / "m.gguf"}, usage, "vast");
    expect_refusal({"synth", "llama", "--type", "q99", "-o", folder / "m.gguf"}, usage, "q99");
    EXPECT_FALSE(exists(folder / "m.gguf"));
}

// Model files.

TEST(BrokenModel, IsMissing) {
    for (const char* command : {"run", "tokenize", "inspect"}) {
        expect_refusal({command, "-m", "missing.gguf"}, input, "missing.gguf");
    }
    expect_refusal({"gguf", "missing.gguf"}, input, "missing.gguf");
}

TEST(BrokenModel, IsAFolder) {
    const Folder folder;
    expect_refusal({"run", "-m", folder.path()}, input, "directory");
    expect_refusal({"gguf", folder.path()}, input, "directory");
    expect_refusal({"tokenize", "-m", folder.path(), "-p", "x"}, input, "directory");
}

TEST(BrokenModel, IsEmpty) {
    const Folder folder;
    write_bytes(folder / "m.gguf", "");
    expect_refusal({"run", "-m", folder / "m.gguf"}, input, "empty");
    expect_refusal({"gguf", folder / "m.gguf"}, input, "empty");
}

TEST(BrokenModel, IsNoModel) {
    const Folder folder;
    write_bytes(folder / "m.gguf", "Once upon a time, there was a little girl named Lily.");
    expect_refusal({"run", "-m", folder / "m.gguf"}, input, "not a GGUF file");
    expect_refusal({"gguf", folder / "m.gguf"}, input, "not a GGUF file");
}

TEST(BrokenModel, IsCutOffAnywhere) {
    const Folder folder;
    const std::string whole = read_bytes(model());
    for (const size_t size : {1UL, 4UL, 8UL, 23UL, 24UL, 100UL, 5000UL, 20000UL, 22000UL, whole.size() / 2, whole.size() - 1}) {
        write_bytes(folder / "m.gguf", std::string_view(whole).substr(0, size));
        expect_refusal({"run", "-m", folder / "m.gguf", "-n", "1", "--device", "cpu"}, input, folder / "m.gguf");
        expect_refusal({"gguf", folder / "m.gguf"}, input, folder / "m.gguf");
    }
}

TEST(BrokenModel, HasNumbersThatCanNotBe) {
    const Folder folder;
    const GgufBytes whole(read_bytes(model()));
    const size_t tensor = whole.tensor("blk.2.attn_q.weight").dimensions_at; // number of dimensions, sizes, type, offset
    const struct {
        const char* what;
        size_t at;
        uint64_t value;
        size_t bytes;
    } changes[] = {{"version", 4, 77, 4},
                   {"number of tensors", 8, 1ULL << 60, 8},
                   {"number of keys", 16, ~0ULL, 8},
                   {"length of the first key", 24, 1ULL << 62, 8},
                   {"dimensions", tensor, 99, 4},
                   {"a size of 0", tensor + 4, 0, 8},
                   {"a size beyond all memory", tensor + 4, 1ULL << 62, 8},
                   {"a negative size", tensor + 12, ~0ULL, 8},
                   {"an offset outside", tensor + 24, 1ULL << 40, 8},
                   {"an offset that is not aligned", tensor + 24, 3, 8}};
    for (const auto& change : changes) {
        SCOPED_TRACE(change.what);
        GgufBytes broken = whole;
        broken.put(change.at, change.value, change.bytes);
        write_bytes(folder / "m.gguf", broken.bytes());
        expect_refusal({"run", "-m", folder / "m.gguf", "-n", "1", "--device", "cpu"}, input, folder / "m.gguf");
    }
}

TEST(BrokenModel, IsAnsweredWhereverItIsDamaged) {
    const Folder folder;
    const std::string whole = read_bytes(model());
    const size_t header = GgufBytes(whole).header_bytes();
    for (size_t at = 0; at < header; at += header / 60) { // what lies there may be a letter of a name: then the model is read
        std::string damaged = whole;
        damaged.replace(at, 8, 8, '\xee');
        write_bytes(folder / "m.gguf", damaged);
        const Outcome outcome = run({"run", "-m", folder / "m.gguf", "-p", "Once", "-n", "2", "--device", "cpu"});
        EXPECT_TRUE(outcome.code == 0 || outcome.code == input) << "byte " << at << ": " << outcome.code << " " << outcome.err;
        EXPECT_LE(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_EQ(outcome.code == input, outcome.out.empty()) << "byte " << at;
    }
}

TEST(BrokenModel, HasAnUnknownArchitecture) {
    const Folder folder;
    GgufBytes changed(read_bytes(model()));
    changed.replace("llama", "lamba", "general.architecture");
    write_bytes(folder / "m.gguf", changed.bytes());
    expect_refusal({"run", "-m", folder / "m.gguf"}, input, "lamba");
    EXPECT_EQ(run({"gguf", folder / "m.gguf"}).code, 0); // its header can be read
}

TEST(BrokenModel, LacksATensor) {
    const Folder folder;
    GgufBytes changed(read_bytes(model()));
    changed.replace("attn_q", "attn_p", "blk.3.");
    write_bytes(folder / "m.gguf", changed.bytes());
    expect_refusal({"run", "-m", folder / "m.gguf"}, input, "blk.3.attn_q.weight");
}

TEST(BrokenModel, LacksAKey) {
    const Folder folder;
    GgufBytes changed(read_bytes(model()));
    changed.replace("block_count", "block_cuont", "llama.");
    write_bytes(folder / "m.gguf", changed.bytes());
    expect_refusal({"run", "-m", folder / "m.gguf"}, input, "llama.block_count");
}

TEST(BrokenModel, HasATensorOfATypeThatIsNotSupported) {
    const Folder folder;
    // Two that GGUF has dropped, one for repacked weights, one that never was.
    for (const auto& [number, words] : {std::pair<uint64_t, const char*>{4, "type number 4,"},
                                        {5, "type number 5,"},
                                        {31, "Q4_0_4_4"},
                                        {200, "type number 200,"}}) {
        GgufBytes changed(read_bytes(model()));
        changed.put(changed.tensor("blk.2.attn_q.weight").type_at, number, 4);
        write_bytes(folder / "m.gguf", changed.bytes());
        expect_refusal({"run", "-m", folder / "m.gguf"}, input, words);
    }
}

TEST(BrokenModel, IsATrace) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "t.trace"}).code, 0);
    expect_refusal({"run", "-m", folder / "t.trace"}, input, "not a GGUF file");
    expect_refusal({"gguf", folder / "t.trace"}, input, "not a GGUF file");
}

// Traces.

/// Every command that reads a trace refuses it.
void expect_no_trace(const std::string& path, const std::string& words) {
    expect_refusal({"show", path}, input, words);
    expect_refusal({"show", path, "--what", "splits"}, input, words);
    expect_refusal({"explain", path, "norm-0"}, input, words);
    expect_refusal({"dot", path}, input, words);
    expect_refusal({"replay", path}, input, words);
    expect_refusal({"export", path, "--jsonl", "-"}, input, words);
    expect_refusal({"inspect", path}, input, words);
}

TEST(BrokenTrace, IsMissing) { expect_no_trace("missing.trace", "missing.trace"); }

TEST(BrokenTrace, IsAFolder) {
    const Folder folder;
    expect_no_trace(folder.path(), "directory");
}

TEST(BrokenTrace, IsEmpty) {
    const Folder folder;
    write_bytes(folder / "t.trace", "");
    expect_no_trace(folder / "t.trace", "empty");
}

TEST(BrokenTrace, IsAModel) { expect_no_trace(model(), "not a trace"); }

TEST(BrokenTrace, IsCutOff) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-p", "Once", "-n", "5", "--device", "cpu", "-o", folder / "whole.trace"}).code, 0);
    const std::string whole = read_bytes(folder / "whole.trace"), cut = folder / "cut.trace";
    for (const size_t size : {1UL, 15UL, 99UL, 512UL, 4096UL, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
        write_bytes(cut, std::string_view(whole).substr(0, size));
        SCOPED_TRACE(std::to_string(size) + " of " + std::to_string(whole.size()) + " bytes");
        expect_refusal({"show", cut}, input, cut);
        expect_refusal({"replay", cut}, input, cut);
        expect_refusal({"explain", cut, "kq-0"}, input, cut);
        expect_refusal({"export", cut, "--jsonl", "-"}, input, cut);
    }
}

TEST(BrokenTrace, IsAnsweredWhereverItIsDamaged) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-p", "Once", "-n", "2", "--device", "cpu", "-o", folder / "whole.trace"}).code, 0);
    const std::string whole = read_bytes(folder / "whole.trace");
    const std::vector<std::vector<std::string>> readers = {{"show"}, {"replay"}, {"dot"}, {"show", "--what", "memory", "--json"}};
    for (size_t i = 0; i < 40; ++i) {
        const size_t at = whole.size() / 40 * i;
        std::string damaged = whole;
        damaged.replace(at, 200, 200, '\xee');
        write_bytes(folder / "t.trace", damaged);
        std::vector<std::string> arguments = readers[i % readers.size()];
        arguments.insert(arguments.begin() + 1, folder / "t.trace");
        const Outcome outcome = run(arguments);
        // 0: what was damaged wasn't asked for; 1: a decision that replay makes otherwise.
        EXPECT_THAT(outcome.code, ::testing::AnyOf(0, 1, input)) << arguments[0] << ", byte " << at << ": " << outcome.err;
        EXPECT_LE(count(outcome.err, "\n"), 1U) << outcome.err;
        if (outcome.code == input) {
            EXPECT_EQ(outcome.out, "") << arguments[0] << ", byte " << at;
            EXPECT_TRUE(outcome.err.starts_with("schedscope: ")) << outcome.err;
        }
    }
}

// Devices, memory, output.

TEST(NoRoom, ForTheCache) {
    expect_refusal({"run", "-m", model(), "--device", "cpu", "-c", "1000000000", "-p", "Once"}, device, "KV cache");
    expect_refusal({"record", "-m", model(), "--device", "cpu", "-c", "1000000000", "-o", "unused.trace"}, device, "KV cache");
}

TEST(NoRoom, WhereThereIsNoFolder) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "t.trace"}).code, 0);
    const std::string nowhere = folder / "missing/file";
    expect_refusal({"dot", folder / "t.trace", "-o", nowhere + ".svg"}, device, nowhere);
    expect_refusal({"dot", folder / "t.trace", "-o", nowhere + ".dot"}, device, nowhere);
    expect_refusal({"export", folder / "t.trace", "--jsonl", nowhere}, device, nowhere);
    expect_refusal({"synth", "llama", "-o", nowhere}, device, nowhere);
    expect_refusal({"run", "-m", model(), "-n", "1", "--device", "cpu", "--logits-out", nowhere}, device, nowhere);
    expect_refusal({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", nowhere}, device, nowhere);
}

TEST(NoRoom, OnAFullDisk) {
    const Folder folder;
    ASSERT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "t.trace"}).code, 0);
    expect_refusal({"export", folder / "t.trace", "--jsonl", "/dev/full"}, device, "No space left");
    expect_refusal({"synth", "llama", "-o", "/dev/full"}, device, "No space left");
    for (const std::vector<std::string>& reader : {std::vector<std::string>{"show", folder / "t.trace"},
                                                   {"dot", folder / "t.trace"},
                                                   {"diff", folder / "t.trace", paths::sample("all-cpu")},
                                                   {"export", folder / "t.trace", "--jsonl", "-"},
                                                   {"gguf", model()},
                                                   {"devices"},
                                                   {"--help"},
                                                   {"run", "--help"},
                                                   {"--version"},
                                                   {"--man"},
                                                   {"run", "-m", model(), "-n", "1", "--device", "cpu"}}) {
        expect_refusal(reader, device, "standard output", {.out_to = "/dev/full"});
    }
}

} // namespace
} // namespace schedscope::test
