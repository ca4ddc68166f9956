// The command line itself: help, options and their values.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/story.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
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
