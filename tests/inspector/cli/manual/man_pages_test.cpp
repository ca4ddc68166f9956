// The man pages say what the program can do, no more and no less: a page for each command, one for each topic.
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <regex>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string escaped(const std::string& text) { return std::regex_replace(text, std::regex("-"), "\\-"); }

class ManPages : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        for (const char* section : {"man1", "man7"}) {
            std::filesystem::create_directory(folder() / section);
        }
        const Outcome outcome = run({"--man", folder().path()});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.out + outcome.err, "");
    }
    static Folder& folder() {
        static Folder of_all;
        return of_all;
    }
    static std::string page(const std::string& name) { return read_bytes(folder() / name); }
    static std::string command_page(const std::string& command) { return page("man1/schedscope-" + command + ".1"); }
    static std::string topic_page(const std::string& topic) { return page("man7/schedscope-" + topic + ".7"); }
    static std::vector<std::string> paths() {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder().path())) {
            if (entry.is_regular_file()) {
                all.push_back(entry.path());
            }
        }
        return all;
    }
};

TEST_F(ManPages, AreOneForEachCommandAndEachTopic) {
    const std::vector<std::string> topics = candidates({"help", ""});
    EXPECT_THAT(topics, IsSupersetOf({"rules", "queries", "keys", "llama.cpp", "JSON"}));
    for (const std::string& command : commands()) {
        EXPECT_NE(command_page(command), "") << command;
    }
    for (const std::string& topic : topics) {
        EXPECT_NE(topic_page(topic), "") << topic;
    }
    EXPECT_EQ(paths().size(), 1 + commands().size() + topics.size());
    EXPECT_EQ(run({"--man"}).out, page("man1/schedscope.1"));
}

TEST_F(ManPages, OfTheProgramNamesAllOthers) {
    const std::string text = page("man1/schedscope.1");
    for (const char* heading : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "TOPICS", "EXIT STATUS", "SEE ALSO"}) {
        EXPECT_THAT(text, HasSubstr(std::string(".SH ") + heading + "\n"));
    }
    for (const std::string& command : commands()) {
        EXPECT_THAT(text, HasSubstr("\n\\fB" + escaped(command) + "\\fP\n"));
    }
    for (const std::string& topic : candidates({"help", ""})) {
        EXPECT_THAT(text, HasSubstr("\n\\fB" + escaped(topic) + "\\fP\n"));
        EXPECT_THAT(text, HasSubstr(".BR schedscope\\-" + escaped(topic) + " (7)"));
    }
}

TEST_F(ManPages, OfACommandHaveItsOptionsAndNoOther) {
    for (const std::string& command : commands()) {
        const std::string text = command_page(command);
        const std::set<std::string> options = options_in(run({command, "--help"}).out);
        EXPECT_THAT(options, Not(IsEmpty())) << command;
        for (const std::string& option : options) {
            EXPECT_THAT(text, HasSubstr("\\fB" + escaped(option) + "\\fP")) << command << ' ' << option;
        }
        std::string rest = text;
        for (std::smatch found; std::regex_search(rest, found, std::regex("\\\\fB(\\\\-[^ ]*?)\\\\fP"));) {
            const std::string option = std::regex_replace(found[1].str(), std::regex("\\\\-"), "-");
            EXPECT_TRUE(options.contains(option)) << command << ' ' << option;
            rest = found.suffix();
        }
    }
}

TEST_F(ManPages, TellWhatAFileMayCost) {
    const std::string limits = topic_page("limits");
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

/// What a program of this machine says of a page; nothing: it isn't here.
std::optional<std::string> said_by(const std::string& command, const std::string& page) {
    const std::string program = command.substr(0, command.find(' '));
    if (std::system(("command -v " + program + " > /dev/null").c_str()) != 0) {
        return std::nullopt;
    }
    FILE* pipe = popen((command + " " + page + " 2>&1").c_str(), "r");
    std::string said;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        said += static_cast<char>(c);
    }
    pclose(pipe);
    return said;
}

TEST_F(ManPages, AreWellFormed) {
    for (const std::string& path : paths()) {
        const auto warnings = said_by("groff -man -ww -z", path);
        if (!warnings) {
            GTEST_SKIP() << "groff is not here";
        }
        EXPECT_EQ(*warnings, "") << path;
    }
}

TEST_F(ManPages, AreReadAsTheyWereMeant) {
    const auto text = [&](const std::string& name) {
        const auto said = said_by("groff -man -rHY=0 -Tutf8 -P-cbou", folder() / name);
        return said ? std::regex_replace(*said, std::regex("[ \n]+"), " ") : std::string();
    };
    if (text("man1/schedscope.1").empty()) {
        GTEST_SKIP() << "groff is not here";
    }
    EXPECT_THAT(text("man1/schedscope.1"), AllOf(HasSubstr("schedscope - shows why a tensor program runs where it runs"),
                                                 HasSubstr("130 interrupted"), HasSubstr("schedscope-rules(7)")));
    EXPECT_THAT(text("man1/schedscope-explain.1"), HasSubstr("schedscope explain trace tensor [options]"));
    EXPECT_THAT(text("man1/schedscope-export.1"), HasSubstr("--perfetto PFTRACE Write a timeline for Perfetto"));
    EXPECT_THAT(text("man1/schedscope-run.1"), HasSubstr("-fa, --flash-attn on|off|auto"));
    EXPECT_THAT(text("man7/schedscope-rules.7"),
                AllOf(HasSubstr("1.wgtN its weight lies there"), HasSubstr("a node by its number")));
    EXPECT_THAT(text("man7/schedscope-keys.7"), HasSubstr("next step (one record) (next-step)"));
    for (const std::string& path : paths()) {
        EXPECT_THAT(text(std::filesystem::relative(path, folder().path())), Not(HasSubstr("\\"))) << path;
    }
}

} // namespace
} // namespace schedscope::test
