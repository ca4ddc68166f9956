// `schedscope help`: the manual on a terminal and to a pipe.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Help, AloneListsTopicsAndCommands) {
    const Outcome help = run({"help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const std::string& name : candidates({"help", ""})) {
        EXPECT_THAT(help.out, HasSubstr("\n    " + name + " "));
    }
    for (const std::string& name : commands()) {
        EXPECT_THAT(help.out, HasSubstr("\n    " + name + " "));
    }
}

TEST(Help, HasATopicForEachTextAndNoOther) {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(paths::source("inspector/manual"))) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() == ".txt" && path.filename() != "CMakeLists.txt") {
            texts.push_back(path.stem());
        }
    }
    EXPECT_THAT(candidates({"help", ""}), ::testing::UnorderedElementsAreArray(texts));
}

TEST(Help, PrintsATopicWithoutAPager) {
    for (const std::string& topic : candidates({"help", ""})) {
        const Outcome help = run({"help", topic});
        EXPECT_EQ(help.code, 0);
        EXPECT_EQ(help.err, "");
        EXPECT_THAT(help.out, StartsWith(topic + " - "));
        EXPECT_THAT(help.out, AllOf(Not(HasSubstr("@table")), Not(HasSubstr("#!")), Not(HasSubstr("\033"))));
    }
}

TEST(Help, TakesItsTablesFromTheProgram) {
    EXPECT_THAT(run({"help", "keys"}).out,
                AllOf(HasSubstr("(next-step)"), HasSubstr(":break [QUERY]"), HasSubstr("a wider list")));
    EXPECT_THAT(run({"help", "rules"}).out, AllOf(HasSubstr("1.wgtN"), HasSubstr("4.cpy")));
    EXPECT_THAT(run({"help", "what-if"}).out, AllOf(HasSubstr("offload-min-batch=N"), HasSubstr("refuse=DEVICE:OP")));
    EXPECT_THAT(run({"help", "queries"}).out, AllOf(HasSubstr("kernel"), HasSubstr("KiB MiB GiB"), HasSubstr("!~")));
    EXPECT_THAT(run({"help", "views"}).out, AllOf(HasSubstr("between passes"), HasSubstr("HELD"), HasSubstr("ENDED")));
    EXPECT_THAT(run({"help", "settings"}).out, AllOf(HasSubstr("escape-delay"), HasSubstr("list-width")));
}

TEST(Help, SaysWhichTopicMayHaveBeenMeant) {
    const Outcome typo = run({"help", "querys"});
    EXPECT_EQ(typo.code, 2);
    EXPECT_EQ(typo.out, "");
    EXPECT_EQ(typo.err, "schedscope: help: there is no topic 'querys'; did you mean queries?\n");
    EXPECT_EQ(run({"help", "shwo"}).err, "schedscope: help: there is no topic 'shwo'; did you mean show?\n");
    EXPECT_EQ(run({"help", "quaternions"}).err, "schedscope: help: there is no topic 'quaternions'; help alone lists them\n");
    EXPECT_EQ(run({"help", "json"}).code, 0) << "in any case";
}

TEST(Help, OfACommandIsItsOwn) { EXPECT_EQ(run({"help", "show"}).out, run({"show", "--help"}).out); }

/// The lines of a topic that are longer than so many bytes, other than examples, which stay as they are.
std::vector<std::string> long_lines(const std::string& text, size_t width) {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(text)) {
        if (line.size() > width && !line.starts_with("    schedscope") && !line.starts_with("    $")) {
            found.push_back(line);
        }
    }
    return found;
}

TEST(Help, FitsThePipeAndTheTerminal) {
    EXPECT_THAT(long_lines(run({"help", "sampling"}).out, 80), IsEmpty());
    Terminal narrow(120, 40, {program_path(), "help", "limits"});
    ASSERT_TRUE(narrow.shows("Texts  ")) << narrow.text();
    EXPECT_EQ(narrow.wait_for_exit(), 0);
    EXPECT_THAT(narrow.text(), ::testing::ContainsRegex("\n    Texts +A prompt, a text *\n")) << "words are whole";
    Terminal wide(60, 200, {program_path(), "help", "limits"});
    ASSERT_TRUE(wide.shows("Texts  ")) << wide.text();
    EXPECT_EQ(wide.wait_for_exit(), 0);
    for (const std::string& line : wide.lines()) {
        EXPECT_LE(line.size(), 100U) << "longer lines are hard to read";
    }
}

} // namespace
} // namespace schedscope::test
