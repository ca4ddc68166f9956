// The report of an imported log.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/pages/browser.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ImportedReport, ShowsThePlanAsTheLogTellsIt) {
    NEEDS_BROWSER();
    const Folder folder;
    const std::string trace = folder / "t.trace", report = folder / "report.html";
    ASSERT_EQ(run({"import", paths::log("2026-05"), "-o", trace}).code, 0);
    ASSERT_EQ(run({"export", trace, "--html", report}).code, 0);
    for (const char* at : {"view=splits", "view=splits&pass=5", "view=splits&pass=before"}) {
        const BrowserPage page = open_page(report, at);
        EXPECT_EQ(page.complaints, "") << at;
        EXPECT_THAT(page.text, HasSubstr("as in the log")) << at;
        EXPECT_THAT(page.text, HasSubstr("split 1")) << at;
        EXPECT_THAT(page.text, Not(HasSubstr("move the slider"))) << at;
    }
    EXPECT_THAT(open_page(report, "view=nodes").text, HasSubstr("V Vulkan0"));
    const BrowserPage table = open_page(report, "view=assignments");
    EXPECT_THAT(table.text, ContainsRegex("prefill, [0-9]+ nodes"));
    EXPECT_THAT(table.text, HasSubstr("Vulkan0"));
    EXPECT_THAT(table.text, Not(HasSubstr("[0, 0, 0, 0]")));
    EXPECT_THAT(open_page(report, "view=copies").dom, Not(HasSubstr(">-1")));
}

TEST(ImportedReport, CountsWhatTheLogPlacesAndIsNamedAsAPicture) {
    NEEDS_BROWSER();
    for (const char* log : {"2026-05", "level-1"}) {
        const Folder folder;
        const std::string trace = folder / "t.trace", report = folder / "report.html";
        ASSERT_EQ(run({"import", "-", "-o", trace}, {.in = read_bytes(paths::log(log))}).code, 0);
        ASSERT_EQ(run({"export", trace, "--html", report}).code, 0);
        int n_assigned = 0; // copies lie where their split is, and no line says it
        for (const std::string& line : lines_of(run({"export", trace, "--jsonl", "-"}).out)) {
            n_assigned += json::parse(line)["kind"] == "assign" ? 1 : 0;
        }
        const BrowserPage page = open_page(report, "view=splits");
        EXPECT_THAT(page.text, HasSubstr(std::to_string(n_assigned) + " tensors assigned; imported logs")) << log;
        EXPECT_THAT(page.text, HasSubstr("a scheduler log from standard input"));
        EXPECT_THAT(page.text, Not(HasSubstr("log a scheduler log")));
    }
}

} // namespace
} // namespace schedscope::test
