// The completions offer what the program can do, no more and no less.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <regex>

namespace schedscope::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Completion, KnowsCommandsAndTheirOptions) {
    EXPECT_THAT(candidates({"sho"}), ElementsAre("show"));
    EXPECT_THAT(candidates({""}), IsSupersetOf(commands()));
    EXPECT_THAT(candidates({"nonsense", ""}), IsEmpty());
    for (const std::string& command : commands()) {
        const std::set<std::string> expected = options_in(run({command, "--help"}).out);
        const auto found = candidates({command, "-"});
        EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected) << command;
    }
    EXPECT_THAT(candidates({"show", "t.trace", "--e"}), ElementsAre("--eval"));
    EXPECT_THAT(candidates({"show", "t.trace", "--eval", "1", "--e"}), IsEmpty()) << "once is enough";
    EXPECT_THAT(candidates({"replay", "t.trace", "--set", "fa=on", "--s"}), ElementsAre("--set")) << "may be repeated";
    EXPECT_THAT(candidates({"show", "--", "-"}), Not(Contains("--json"))) << "no options behind this";
}

TEST(Completion, KnowsWhatAValueMayBe) {
    EXPECT_THAT(candidates({"help", "qu"}), ElementsAre("queries"));
    EXPECT_THAT(candidates({"show", "t.trace", "--what", ""}), IsSupersetOf({"splits", "kernels", "tokens"}));
    EXPECT_THAT(candidates({"show", "t.trace", "--what=sp"}), ElementsAre("--what=splits"));
    EXPECT_THAT(candidates({"show", "t.trace", "--what", "=", "sp"}), ElementsAre("--what=splits")) << "as bash splits it";
    EXPECT_THAT(candidates({"show", "t.trace", "--pass", "2"}), ElementsAre("2a", "2b", "2c", "2d"));
    EXPECT_THAT(candidates({"dot", "t.trace", "--view", ""}), IsSupersetOf({"splits", "layers", "nodes", "memory"}));
    EXPECT_THAT(candidates({"run", "-fa", ""}), ElementsAre("on", "off", "auto"));
    EXPECT_THAT(candidates({"run", "--stages", ""}), ElementsAre("1", "4"));
    EXPECT_THAT(candidates({"run", "-n", ""}), IsEmpty()) << "a number";
    EXPECT_THAT(candidates({"synth", "qwen"}), IsSupersetOf({"qwen2", "qwen3", "qwen3moe"}));
    EXPECT_THAT(candidates({"synth", "qwen3moe", "--preset", ""}), ElementsAre("tiny", "30b-a3b", "235b-a22b"));
    EXPECT_THAT(candidates({"synth", "llama", "--type", "q8"}), ElementsAre("q8_0"));
    EXPECT_THAT(candidates({"replay", "t.trace", "--set", "fa=o"}), ElementsAre("fa=on", "fa=off"));
    EXPECT_THAT(candidates({"replay", "t.trace", "--set", ""}), IsSupersetOf({"ngl=", "ot=", "ts=", "nkvo=on", "nkvo=off"}));
}

TEST(Completion, AsksForFilesBySuffix) {
    EXPECT_THAT(candidates({"show", ""}), ElementsAre(":files trace"));
    EXPECT_THAT(candidates({"run", "-m", ""}), ElementsAre(":files gguf"));
    EXPECT_THAT(candidates({"dot", "t.trace", "-o", "x"}), ElementsAre(":files svg png pdf dot"));
    EXPECT_THAT(candidates({"run", "-f", ""}), ElementsAre(":files"));
    EXPECT_THAT(candidates({"explain", "t.trace", ""}), Not(Contains(HasSubstr(":files")))) << "a tensor's name";
}

TEST(Completion, ListsEachDeviceOnce) {
    EXPECT_THAT(candidates({"run", "--device", "c"}), ElementsAre("cpu"));
    EXPECT_THAT(candidates({"run", "--device", "blas,c"}), ElementsAre("blas,cpu"));
    EXPECT_THAT(candidates({"run", "--device", "cpu,c"}), IsEmpty());
}

/// What a shell completes; nothing: the shell isn't here.
std::optional<std::vector<std::string>> completed_by(const std::string& shell, const std::string& script, const Folder& folder) {
    if (std::system(("command -v " + shell + " > /dev/null").c_str()) != 0) {
        return std::nullopt;
    }
    write_bytes(folder / "script", script);
    const std::string command = "cd " + folder.path() + " && PATH=" + paths::program("") + ":$PATH HOME=" + folder.path() + " " +
                                shell + " ./script 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string said;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        said += static_cast<char>(c);
    }
    pclose(pipe);
    return lines_of(said);
}

/// Files to be completed.
void fill(const Folder& folder) {
    for (const char* name : {"a.trace", "b c.trace", "notes.txt", "m.gguf"}) {
        write_bytes(folder / name, "");
    }
}

const std::string completions = paths::source("inspector/completions/");

TEST(Shells, BashCompletes) {
    const Folder folder;
    fill(folder);
    // As bash calls it: the words, taken apart at "=", and which of them is being typed.
    const std::string ask = "source " + completions +
                            "schedscope.bash\n"
                            "compopt() { :; }\n"
                            "ask() { COMP_WORDS=(schedscope \"$@\"); COMP_CWORD=$#; _schedscope schedscope; "
                            "printf '%s;' \"${COMPREPLY[@]}\"; echo; }\n"
                            "ask sho\n"
                            "ask show ''\n"
                            "ask show a.trace --what = sp\n"
                            "ask show a.trace --what =\n"
                            "ask replay a.trace --set fa = o\n"
                            "ask run -m ''\n"
                            "ask run -m nothing\n"
                            "ask run -m = m\n"
                            "ask synth qwen3moe --preset 3\n"
                            "complete -p schedscope\n";
    const auto said = completed_by("bash --norc", ask, folder);
    if (!said) {
        GTEST_SKIP() << "bash is not here";
    }
    ASSERT_EQ(said->size(), 10U) << ::testing::PrintToString(*said);
    EXPECT_EQ((*said)[0], "show;");
    EXPECT_THAT((*said)[1], ::testing::AnyOf("a.trace;b c.trace;", "b c.trace;a.trace;")) << "bash sorts them itself";
    EXPECT_EQ((*said)[2], "splits;");
    EXPECT_THAT((*said)[3], HasSubstr("splits;copies;"));
    EXPECT_EQ((*said)[4], "on;off;");
    EXPECT_EQ((*said)[5], "m.gguf;");
    EXPECT_EQ((*said)[6], ";");
    EXPECT_EQ((*said)[7], "m.gguf;");
    EXPECT_EQ((*said)[8], "30b-a3b;");
    EXPECT_EQ((*said)[9], "complete -F _schedscope schedscope");
}

TEST(Shells, ZshCompletes) {
    const Folder folder;
    // As zsh calls it: the words, and which of them is being typed. What it offers is told by what shows it.
    const auto said = completed_by("zsh -f",
                                   "_describe() { print -r -- ${(j.;.)${(P)4}} }\n"
                                   "_files() { print -r -- files $* }\n"
                                   "compset() { : }\n"
                                   "ask() { words=(schedscope \"$@\"); CURRENT=$#words; source " +
                                       completions +
                                       "_schedscope }\n"
                                       "ask ins\n"
                                       "ask show ''\n"
                                       "ask run -f ''\n"
                                       "ask show a.trace --what=sp\n"
                                       "ask synth qwen3moe --preset 3\n"
                                       "ask replay a.trace --set fa=o\n",
                                   folder);
    if (!said) {
        GTEST_SKIP() << "zsh is not here";
    }
    EXPECT_THAT(*said, ElementsAre("inspect:The inspector over a trace, or over a running program", "files -g *.(trace)(-.)",
                                   "files", "--what=splits", "30b-a3b", "fa=on;fa=off"));
}

TEST(Shells, FishCompletes) {
    const Folder folder;
    fill(folder);
    const auto said =
        completed_by("fish --no-config",
                     "source " + completions +
                         "schedscope.fish\n"
                         "for line in 'schedscope sho' 'schedscope show ' 'schedscope show a.trace --what=sp' "
                         "'schedscope run -m ' 'schedscope synth qwen3moe --preset 3' 'schedscope replay a.trace --set fa=o'\n"
                         "    complete -C $line | string replace -r '\\t.*' '' | string join ';'\n"
                         "end\n",
                     folder);
    if (!said) {
        GTEST_SKIP() << "fish is not here";
    }
    EXPECT_THAT(*said, ElementsAre("show", "a.trace;b c.trace", "--what=splits", "m.gguf", "30b-a3b", "fa=off;fa=on"));
}

} // namespace
} // namespace schedscope::test
