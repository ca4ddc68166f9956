// Each example of the manual and of the README runs as it stands: in a folder with the files that they name, those of one text
// one after the other. What can't be run here says why; how many there are is counted.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sys/stat.h>

namespace schedscope::test {
namespace {

namespace fs = std::filesystem;

struct Example {
    std::string command, why_not;
};

/// Of a topic the lines that are indented by four and begin as a command does; of the README those within ```sh.
std::vector<Example> examples_of(const std::string& path) {
    std::vector<Example> examples;
    const bool is_readme = path.ends_with(".md");
    bool in_block = false;
    for (std::string line : lines_of(read_bytes(path))) {
        if (is_readme) {
            in_block = line.starts_with("```") ? line == "```sh" : in_block;
            if (!in_block || line.starts_with("```") || line.empty()) {
                continue;
            }
        } else if (line.starts_with("    schedscope ")) {
            line = line.substr(4);
        } else if (line.starts_with("    $ ")) {
            line = line.substr(6);
        } else {
            continue;
        }
        const size_t mark = line.find("#!");
        examples.push_back({line.substr(0, mark), mark == std::string::npos ? "" : line.substr(mark + 3)});
    }
    return examples;
}

std::vector<std::string> texts() {
    std::vector<std::string> all{paths::source("README.md")};
    for (const auto& entry : fs::directory_iterator(paths::source("inspector/manual"))) {
        if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt") {
            all.push_back(entry.path());
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string shell_quoted(const std::string& text) { return "'" + text + "'"; }

/// A folder with all that the examples name.
class ExampleFolder {
public:
    ExampleFolder() {
        const auto copy = [&](const std::string& from, const std::string& to) { fs::copy_file(from, folder_ / to); };
        copy(model(), "model.gguf");
        copy(image_encoder(), "mmproj.gguf");
        copy(photo(), "photo.png"); // what it is, its bytes say
        for (const char* name : {"run.trace", "a.trace"}) {
            copy(paths::sample("partial-offload"), name);
        }
        copy(paths::sample("all-cpu"), "b.trace");
        copy(paths::sample("llama-cpp"), "llama-cpp.trace");
        copy(paths::log("2026-05"), "run.log");
        std::string prompt = "Once upon a time there was a girl who had a red ball and a blue ball and a big dog.";
        write_bytes(folder_ / "prompt.txt", prompt);
        write_bytes(folder_ / "text.txt", prompt);
        fs::create_directories(folder_ / "build/release");
        fs::create_directory_symlink(paths::program(""), folder_ / "build/release/bin");
        fs::create_directory_symlink(paths::source("traces"), folder_ / "traces");
        fs::create_directory(folder_ / "bin");
        // llama.cpp as its users start it: a released build behind the name.
        const auto stand_in = [&](const std::string& name, const std::vector<std::string>& command) {
            std::string script = "#!/bin/sh\nexec";
            for (const std::string& word : command) {
                script += " " + shell_quoted(word);
            }
            write_bytes(folder_ / name, script + "\n");
            chmod((folder_ / name).c_str(), 0755);
        };
        for (const Released& build : released_builds()) {
            stand_in("bin/llama-cli", drive(build, folder_ / "model.gguf", {"--tokens", "4"}));
            stand_in("bin/llama-bench", measure_rates(build));
        }
    }

    std::string path() const { return folder_.path(); }

    /// Both of these run a command in the folder, as a user's shell does.
    Outcome run_in_shell(const std::string& command) const {
        // The program under test is what starts; the shell it hands the work to runs the example.
        const std::string out = folder_ / "out", err = folder_ / "err";
        const int status = std::system((script(command) + " > " + out + " 2> " + err + " < /dev/null").c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status), read_bytes(out), read_bytes(err)};
    }
    /// In a terminal, until its inspector stands, and leaves it.
    void look(const std::string& command) const {
        Terminal terminal(24, 100, {"/bin/sh", "-c", script(command)});
        // "queries" is of the row of views: no message hides it. A program that is watched is left at its first plan, not before:
        // one that is told to end while it still starts may end with a code of its own.
        const bool watches = command.find(" -- ") != std::string::npos;
        ASSERT_TRUE(terminal.shows("queries") && (!watches || terminal.shows("eval 0"))) << command << '\n' << terminal.text();
        terminal.press("Q");
        const int code = terminal.wait_for_exit();
        EXPECT_TRUE(code == 0 || code == 128 + SIGTERM) // a program that is watched is ended
            << command << ": " << code << '\n'
            << terminal.text();
    }

private:
    std::string script(const std::string& command) const {
        return "cd " + path() + " && PATH=" + path() + "/bin:" + paths::program("") + ":$PATH HOME=" + path() +
               " XDG_STATE_HOME=" + path() + "/state sh -c " + quoted_for_shell("set -e; " + command);
    }
    static std::string quoted_for_shell(const std::string& text) {
        std::string out = "'";
        for (const char c : text) {
            out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        }
        return out + "'";
    }

    Folder folder_;
};

/// What of this machine a command needs and is not here; empty: nothing.
std::string missing_for(const std::string& command) {
    static const bool has_vulkan = run({"devices", "--json"}).out.find("\"Vulkan0\"") != std::string::npos;
    if (command.find("vulkan0,") != std::string::npos && command.find("--dry-run") == std::string::npos && !has_vulkan) {
        return "a Vulkan device";
    }
    if ((command.find("llama-cli") != std::string::npos || command.find("llama-bench") != std::string::npos) &&
        released_builds().empty()) {
        return "a released build of llama.cpp";
    }
    for (const char* tool : {"jq", "sqlite3"}) {
        if (command.find(std::string(tool) + " ") != std::string::npos &&
            std::system((std::string("command -v ") + tool + " > /dev/null").c_str()) != 0) {
            return tool;
        }
    }
    return "";
}

class Examples : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, Examples, ::testing::ValuesIn(texts()),
                         [](const auto& info) { return as_test_name(fs::path(info.param).filename()); });

TEST_P(Examples, RunAsTheyStand) {
    const ExampleFolder folder;
    for (const Example& example : examples_of(GetParam())) {
        if (!example.why_not.empty()) {
            continue;
        }
        if (const std::string missing = missing_for(example.command); !missing.empty()) {
            GTEST_SKIP() << "the examples from here on need " << missing << ": " << example.command;
        }
        if (example.command.find("schedscope inspect ") != std::string::npos) {
            folder.look(example.command);
            continue;
        }
        const Outcome outcome = folder.run_in_shell(example.command);
        const bool differ = outcome.code == 1 && example.command.starts_with("schedscope diff "); // an answer, too
        EXPECT_TRUE(outcome.code == 0 || differ) << outcome.code << " of " << example.command << '\n'
                                                 << outcome.out << outcome.err;
        if (example.command.find("| jq ") !=
            std::string::npos) { // of names that are not there it says nothing, and that it did well
            EXPECT_TRUE(outcome.out.find_first_not_of(" \n") != std::string::npos && outcome.out != "null\n") << example.command;
        }
    }
}

TEST(Readme, SaysHowTheReportIsMade) {
    EXPECT_THAT(read_bytes(paths::source("README.md")), ::testing::HasSubstr("`schedscope export run.trace --html run.html`"));
}

/// What the README shows of a command is what it prints.
TEST(ExamplesOfAll, AreAnsweredAsTheReadmeShows) {
    const ExampleFolder folder;
    const std::vector<std::string> lines = lines_of(read_bytes(paths::source("README.md")));
    size_t n_shown = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
        if (!lines[i].starts_with("$ schedscope ")) {
            continue;
        }
        std::string shown;
        size_t end = i + 1;
        for (; end < lines.size() && lines[end] != "```"; ++end) {
            shown += lines[end] + "\n";
        }
        const std::string out = std::regex_replace(folder.run_in_shell(lines[i].substr(2)).out, std::regex(" +\n"), "\n");
        EXPECT_EQ(out, shown) << lines[i];
        ++n_shown;
    }
    EXPECT_EQ(n_shown, 2U);
}

TEST(ExamplesOfAll, AreManyAndFewAreNotRun) {
    size_t n_run = 0;
    std::vector<std::string> not_run;
    for (const std::string& path : texts()) {
        for (const Example& example : examples_of(path)) {
            if (example.why_not.empty()) {
                ++n_run;
            } else {
                not_run.push_back(example.command);
                EXPECT_GT(example.why_not.size(), 5U) << example.command << ": say why";
            }
        }
    }
    EXPECT_GE(n_run, 70U);
    EXPECT_EQ(not_run.size(), 3U) << ::testing::PrintToString(not_run);
}

} // namespace
} // namespace schedscope::test
