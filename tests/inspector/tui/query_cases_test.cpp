// The query language by example (tests/data/queries.txt), typed into the inspector: filters, searches and breakpoints.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/support/traces/query_cases.h"
#include "traces/history/words/words.h"

namespace schedscope {
namespace {

using test::Inspecting;
using test::query_cases;
using test::QueryCase;

TEST(QueryCases, FilterTheList) {
    Inspecting t(24, 240, test::inspect_made);
    for (const QueryCase& c : query_cases("tensors")) {
        t.press(":filter\n{Home}&" + c.query + "\n");
        EXPECT_TRUE(t.shows(words::count(c.number) + " of 188 lines match " + c.query)) << c.query << t.text();
        EXPECT_NE(t.text().find(c.what), std::string::npos) << c.query << t.text();
    }
}

TEST(QueryCases, SearchTheList) {
    Inspecting t(24, 240, test::inspect_made);
    for (const QueryCase& c : query_cases("tensors")) {
        t.press("{Home}");
        ASSERT_TRUE(t.hides("found ")) << t.text();
        t.press("/" + c.query + "\n");
        EXPECT_TRUE(t.shows(c.number == 0 ? "no line of this list matches " + c.query : "found " + c.what + " "))
            << c.query << t.text();
    }
}

TEST(QueryCases, BreakOnRecords) {
    Inspecting t(24, 240, test::inspect_made);
    for (const QueryCase& c : query_cases("records")) {
        t.press(":unbreak\n<b" + c.query + "\n");
        ASSERT_TRUE(t.shows("breakpoint on " + c.query + ": c goes on to it")) << t.text();
        t.press("c");
        EXPECT_TRUE(
            t.shows(c.number < 0 ? "no record after this step matches " + c.query : "step " + words::count(c.number) + "/"))
            << c.query << t.text();
    }
}

TEST(QueryCases, MistakesAreToldOnTheStatusLine) {
    Inspecting t(24, 420, test::inspect_made);
    for (const QueryCase& c : query_cases("mistakes")) {
        for (const char* prompt : {"&", "/", "b"}) {
            t.press("{Home}");
            ASSERT_TRUE(t.hides("query: ")) << t.text();
            t.press(prompt + c.query + "\n");
            EXPECT_TRUE(t.shows("query: " + c.what)) << prompt << c.query << t.text();
        }
    }
}

TEST(QueryCases, AMistakeIsToldWhileItIsTyped) {
    Inspecting t(24, 240, test::inspect_made);
    t.press("&backend=GP");
    ASSERT_TRUE(t.shows(" so far")) << "it may become a backend: " << t.text();
    t.press("X");
    ASSERT_TRUE(t.shows("query: 'GPX' is no backend; there are GPU0 CPU -")) << t.text();
    t.press("{Backspace}U0");
    EXPECT_TRUE(t.hides("is no backend")) << t.text();
}

/// Of a running program: more backends may come.
TEST(QueryCases, ABackendOfARunningProgramMayCome) {
    Inspecting t(24, 240, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text(); // what is told then would replace what the breakpoint tells
    t.press("bbackend=Vulkan7\n");
    EXPECT_TRUE(t.shows("breakpoint on backend=Vulkan7")) << t.text();
    t.press("bop=NONSENSE\n");
    EXPECT_TRUE(t.shows("'NONSENSE' is no operator")) << t.text();
}

} // namespace
} // namespace schedscope
