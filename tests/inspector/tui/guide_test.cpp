// The demo's first minute: five steps to an answer, each done by doing what it says.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::Inspecting;

int inspect_guided() {
    InspectorOptions options;
    options.guided = true;
    return test::inspect_made_with(options);
}

/// The key that the guide asks for is pressed, until it has its answer.
void follow_guide(Inspecting& t) {
    const std::pair<const char*, const char*> steps[] = {
        {"1/5", "2"}, {"2/5", "\n"}, {"3/5", "u"}, {"4/5", "{Backspace}"}, {"5/5", "e"}};
    for (const auto& [number, key] : steps) {
        ASSERT_TRUE(t.shows(number)) << t.text();
        t.press(key);
        ASSERT_TRUE(t.hides(number)) << t.text();
    }
}

class Guided : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Guided, EndsWithWhy) {
    const auto [rows, cols] = GetParam();
    Inspecting t(rows, cols, inspect_guided);
    ASSERT_NO_FATAL_FAILURE(follow_guide(t));
    ASSERT_TRUE(t.shows("this is why")) << t.text();
    EXPECT_TRUE(t.shows("the story of embd")) << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.hides("this is why")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}
INSTANTIATE_TEST_SUITE_P(On, Guided,
                         ::testing::Values(std::pair(24, 80), std::pair(60, 200), std::pair(12, 50), std::pair(10, 40)),
                         [](const auto& info) {
                             return std::to_string(info.param.first) + "x" + std::to_string(info.param.second);
                         });

TEST(Guide, SaysEachStepWhole) {
    Inspecting t(24, 80, inspect_guided);
    ASSERT_TRUE(t.shows("1/5 each line is an operation and the device that it got. Press 2: the")) << t.text();
    EXPECT_TRUE(t.shows("(Esc leaves)")) << t.text();
    t.press("2");
    ASSERT_TRUE(t.shows("2/5 a split is what runs on one device at a time")) << t.text();
    t.press("\n");
    ASSERT_TRUE(t.shows("Why there? Press u: to the")) << t.text();
}

TEST(Guide, WaitsForWhatItAskedForAndIsLeftAtAnyTime) {
    Inspecting t(24, 80, inspect_guided);
    t.press("2");
    ASSERT_TRUE(t.shows("2/5")) << t.text();
    t.press("a"); // something else
    ASSERT_TRUE(t.shows("leave the selection where it is")) << t.text();
    EXPECT_TRUE(t.shows("2/5")) << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.shows("the guide is left")) << t.text();
    EXPECT_TRUE(t.hides("2/5")) << t.text();
    t.press("?");
    EXPECT_TRUE(t.shows("keys that work here")) << t.text();
}

/// Whatever is selected meanwhile, each step is about the tensor that it names.
TEST(Guide, GoesOnWithItsTensorWhereTheSelectionWasMoved) {
    Inspecting t(24, 80, inspect_guided);
    t.press("2{End}"); // another split
    ASSERT_TRUE(t.shows("2/5")) << t.text();
    t.press("\n");
    ASSERT_TRUE(t.shows("3/5 embd runs on ")) << t.text();
    EXPECT_TRUE(t.shows("┬ embd ")) << t.text();
    t.press("{End}u");
    ASSERT_TRUE(t.shows("4/5 ")) << t.text();
    t.press("{Backspace}");
    ASSERT_TRUE(t.shows("5/5 ")) << t.text();
    t.press("{End}e");
    EXPECT_TRUE(t.shows("the story of embd")) << t.text();
}

TEST(Guide, KeepsItsFactsAtOtherSteps) {
    Inspecting t(24, 80, inspect_guided);
    t.press("2\nu");
    ASSERT_TRUE(t.shows("did, by rule ")) << t.text();
    const std::string screen = t.text();
    const size_t begin = screen.find("4/5 ");
    const std::string said = screen.substr(begin, screen.find('\n', begin) - begin);
    t.press("n"); // where the next evaluation begins, nothing is placed
    ASSERT_TRUE(t.shows("evaluation 1 begins")) << t.text();
    EXPECT_NE(t.text().find(said), std::string::npos) << t.text();
    t.press("{Backspace}");
    EXPECT_TRUE(t.shows("5/5 ")) << t.text();
}

TEST(Guide, IsTheDemosAlone) {
    Inspecting t(24, 80, test::inspect_made);
    EXPECT_EQ(t.text().find("1/5"), std::string::npos) << t.text();
}

} // namespace
} // namespace schedscope
