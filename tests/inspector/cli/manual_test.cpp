// The manual page and the completions say what the program can do, no more and no less.
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <regex>
#include <set>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// Every name of an option that a help text lists.
std::set<std::string> options_in(const std::string& help) {
    std::set<std::string> names;
    for (const std::string& line : lines_of(help)) {
        std::smatch found;
        if (std::regex_search(line, found, std::regex("^  (-[^ ]+)"))) {
            std::stringstream list(found[1]);
            for (std::string name; std::getline(list, name, ',');) {
                names.insert(name);
            }
        }
    }
    return names;
}

std::string manual() {
    const Outcome outcome = run({"--man"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
}

/// A part of the manual, from its heading to the next one of the same kind.
std::string part(const std::string& manual, const std::string& kind, const std::string& heading) {
    const size_t begin = manual.find(kind + " " + heading + "\n");
    if (begin == std::string::npos) {
        return "";
    }
    size_t end = manual.find("\n.SH ", begin + 1);
    if (kind == ".SS") {
        end = std::min(end, manual.find("\n.SS ", begin + 1));
    }
    return manual.substr(begin, end - begin);
}

std::string escaped(const std::string& text) { return std::regex_replace(text, std::regex("-"), "\\-"); }

TEST(Manual, HasTheSectionsThatPeopleLookFor) {
    const std::string text = manual();
    for (const char* heading : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "LIMITS", "ENVIRONMENT",
                                "FILES", "EXAMPLES"}) {
        EXPECT_NE(part(text, ".SH", heading), "") << heading;
    }
}

TEST(Manual, TellsWhatAFileMayCost) {
    const std::string limits = part(manual(), ".SH", "LIMITS");
    for (const char* what : {"Models", "Traces", "Logs", "Streams", "Images", "Pictures of plans", "Texts"}) {
        EXPECT_THAT(limits, HasSubstr(std::string("\\fB") + what + "\\fP")) << what;
    }
    // As the readers' own refusals say them.
    for (const int64_t bytes : {budget::trace_scratch_bytes, budget::trace_copy_bytes, budget::log_bytes,
                                budget::stream_block_bytes, budget::image_file_bytes, budget::image_memory_bytes,
                                budget::layout_memory_bytes, budget::text_bytes, budget::settings_bytes}) {
        EXPECT_THAT(limits, HasSubstr(": " + words::limit(bytes)));
    }
    EXPECT_THAT(limits, HasSubstr("178,956,970 pixels"));
}

TEST(Manual, TellsEveryOptionOfEveryCommand) {
    const std::string text = manual(), shared = part(text, ".SH", "OPTIONS");
    const auto names = commands();
    EXPECT_THAT(names, IsSupersetOf({"run", "show", "export", "bench", "synth"}));
    size_t last = 0;
    for (const std::string& command : names) {
        const std::string own = part(text, ".SS", escaped(command));
        ASSERT_NE(own, "") << command;
        EXPECT_GT(text.find(own), last) << "in the order of the help";
        last = text.find(own);
        const std::string help = run({command, "--help"}).out;
        const std::string there = own.find("options of a run") == std::string::npos ? own : own + shared;
        for (const std::string& option : options_in(help)) {
            if (option == "-h" || option == "--help") { // told once
                EXPECT_THAT(shared, HasSubstr("\\fB" + escaped(option) + "\\fP"));
                continue;
            }
            EXPECT_THAT(there, HasSubstr("\\fB" + escaped(option) + "\\fP")) << command << ' ' << option;
        }
        // And no other.
        std::string rest = own;
        for (std::smatch found; std::regex_search(rest, found, std::regex("\\\\fB(\\\\-[^ ]*?)\\\\fP"));) {
            const std::string option = std::regex_replace(found[1].str(), std::regex("\\\\-"), "-");
            EXPECT_TRUE(options_in(help).contains(option)) << command << ' ' << option;
            rest = found.suffix();
        }
    }
}

/// What a program of this machine says; nothing: it isn't here.
std::optional<std::string> said_by(const std::string& command, const std::string& input) {
    const std::string program = command.substr(0, command.find(' '));
    if (std::system(("command -v " + program + " > /dev/null").c_str()) != 0) {
        return std::nullopt;
    }
    const Folder folder;
    write_bytes(folder / "schedscope.1", input);
    FILE* pipe = popen((command + " " + folder.path() + "/schedscope.1 2>&1").c_str(), "r");
    std::string said;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        said += static_cast<char>(c);
    }
    pclose(pipe);
    return said;
}

TEST(Manual, IsWellFormed) {
    const auto warnings = said_by("groff -man -ww -z", manual());
    if (!warnings) {
        GTEST_SKIP() << "groff is not here";
    }
    EXPECT_EQ(*warnings, "");
}

TEST(Manual, IsReadAsItWasMeant) {
    const auto page = said_by("groff -man -Tutf8 -P-cbou", manual());
    if (!page) {
        GTEST_SKIP() << "groff is not here";
    }
    const std::string text = std::regex_replace(*page, std::regex("[ \n]+"), " ");
    EXPECT_THAT(text,
                AllOf(HasSubstr("schedscope - shows why a tensor program runs where it runs"),
                      HasSubstr("schedscope explain trace tensor [options]"),
                      HasSubstr("--perfetto PFTRACE Write a timeline for Perfetto"), HasSubstr("-fa, --flash-attn on|off|auto"),
                      HasSubstr("130 Interrupted"), HasSubstr("llama.cpp's names")));
    EXPECT_THAT(text, Not(HasSubstr("\\")));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
