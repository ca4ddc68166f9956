// The command line itself: help, options and their values.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* command_names[] = {"demo",  "run",    "record", "inspect", "show",       "explain",
                                         "dot",   "replay", "export", "gguf",    "devices",    "tokenize",
                                         "synth", "bench",  "diff",   "verify",  "embed-image"};

TEST(Usage, HelpNamesEveryCommand) {
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* command : command_names) {
        EXPECT_THAT(help.out, HasSubstr(command));
    }
    EXPECT_EQ(help.err, "");
}

TEST(Usage, EveryCommandHasHelp) {
    for (const std::string& command : commands()) {
        const Outcome help = run({command, "--help"});
        EXPECT_EQ(help.code, 0) << command;
        EXPECT_THAT(help.out, HasSubstr("--help")) << command;
        EXPECT_EQ(help.err, "") << command;
    }
}

TEST(Usage, HelpShowsMultiLetterOptionsAsTheyAreTyped) {
    const std::string help = run({"run", "--help"}).out;
    for (const char* option : {" -ngl", " -fa", " -ctk", " -ctv", " -ub", " -ts", " -ot", " -nkvo"}) {
        EXPECT_THAT(help, HasSubstr(option));
        EXPECT_EQ(help.find(" -" + std::string(option).substr(1) + " "), std::string::npos) << option;
    }
}

TEST(Usage, WithoutArgumentsTheHelpIsAnError) {
    const Outcome nothing = run({});
    EXPECT_EQ(nothing.code, 2);
    EXPECT_EQ(nothing.out, "");
    EXPECT_THAT(nothing.err, HasSubstr("run"));
}

TEST(Usage, TheVersionIsTold) {
    const Outcome version = run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, StartsWith("schedscope "));
}

TEST(Usage, WhatIsTooMuchIsNamedInTheOrderItWasTyped) {
    const Outcome outcome = run({"show", "a.trace", "second", "--nonsense", "third"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              "schedscope: these arguments were not expected: second --nonsense third (see schedscope show --help)\n");
}

TEST(Usage, WhatIsNearlyRightIsAskedBack) {
    const std::string sample = paths::source("traces/samples/partial-offload.trace");
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"run", "-m", "a.gguf", "--top_k", "3"}, "there is no option --top_k; did you mean --top-k"},
        {{"dot", "a.trace", "--what", "splits"}, "there is no option --what; did you mean --view?"},
        {{"show", "a.trace", "--view=splits"}, "there is no option --view; did you mean --what?"},
        {{"--verison"}, "there is no option --verison; did you mean --version?"},
        {{"inspcet", "a.trace"}, "there is no command inspcet; did you mean inspect?"},
        {{"show", paths::source("traces/samples/all-cpu.trace"), "--what", "slpits"}, "; did you mean splits?"},
        {{"show", paths::source("traces/samples/all-cpu.trace"), "--what", "evaluations"}, "; they are listed by --what reuse"},
        {{"explain", paths::source("traces/samples/all-cpu.trace"), "Qcru-0"}, "; did you mean Qcur-0"},
        {{"show", paths::source("traces/samples/all-cpu.trace"), "--what", "time", "--by", "rol"}, "; did you mean role?"},
        {{"replay", sample, "--set", "refuse=vulkan0:softmax"}, "no operator 'SOFTMAX'; did you mean SOFT_MAX"},
        {{"replay", sample, "--set", "refuse=vulcan0:SOFT_MAX"}, "; did you mean Vulkan0?"},
        {{"replay", sample, "--set", "device-order=vulcan0,cpu"}, "; did you mean Vulkan0?"},
        {{"replay", sample, "--set", "ot=ffn=vulcan0"}, "; did you mean Vulkan0?"},
        {{"replay", sample, "--set", "opoffload=on"}, "; did you mean op-offload"},
        {{"run", "-m", model(), "-p", "x", "-n", "1", "--device", "cpuu"}, "; did you mean CPU?"},
        {{"run", "-m", model(), "-p", "x", "-n", "1", "--device", "cpu", "-ot", "ffn=cpuu"}, "; did you mean CPU?"},
        {{"record", "-m", model(), "-o", "t.trace", "--watch", "op=MULMAT"}, "; did you mean MUL_MAT"},
        {{"record", "-m", model(), "-o", "t.trace", "--watch", "cause=1.wgt"}, "; did you mean 1.wgt0"},
        {{"synth", "llama", "--type", "q40", "-o", "x.gguf"}, "; did you mean q4_0"},
    };
    for (const auto& [arguments, meant] : cases) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_THAT(outcome.err, HasSubstr(meant));
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
    }
    EXPECT_THAT(run({"zzzzzzzz"}).err, Not(HasSubstr("did you mean")));
}

TEST(Usage, AllLayersIsMoreThanAnyModelHas) {
    const Outcome replayed = run({"replay", paths::sample("partial-offload"), "--set", "ngl=all"});
    EXPECT_EQ(replayed.out, run({"replay", paths::sample("partial-offload"), "--set", "ngl=99"}).out);
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    for (const char* command : {"run", "bench"}) {
        EXPECT_EQ(run({command, "-m", "no-such.gguf", "-ngl", "all"}).err,
                  run({command, "-m", "no-such.gguf", "-ngl", "999"}).err);
        EXPECT_THAT(run({command, "-m", "no-such.gguf", "-ngl", "most"}).err, HasSubstr("-ngl most: a whole number from 0"));
    }
}

TEST(Usage, AValueThatLooksLikeAMultiLetterOptionIsAValue) {
    for (const char* prompt : {"-ngl", "-fa", "-ctk", "-nkvo"}) {
        const Outcome ids = run({"tokenize", "-m", model(), "-p", prompt});
        EXPECT_EQ(ids.code, 0) << ids.err;
        const Outcome from_input = run({"tokenize", "-m", model()}, {.in = prompt});
        EXPECT_EQ(ids.out, from_input.out) << prompt;
        EXPECT_GT(ids.out.size(), 0U);
    }
}

TEST(Usage, APromptThatLooksLikeAnOptionIsGeneratedFrom) {
    const Folder folder;
    for (const char* prompt : {"-ngl", "-fa", "--temp"}) {
        write_bytes(folder / "prompt", prompt);
        const Outcome typed = run({"run", "-m", model(), "-p", prompt, "-n", "5", "--temp", "0", "--device", "cpu"});
        const Outcome filed = run({"run", "-m", model(), "-f", folder / "prompt", "-n", "5", "--temp", "0", "--device", "cpu"});
        EXPECT_EQ(typed.code, 0) << prompt << typed.err;
        EXPECT_EQ(typed.out, filed.out) << prompt;
    }
}

} // namespace
} // namespace schedscope::test
