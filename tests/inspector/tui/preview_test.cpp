// What a search or a filter will show is there while it is typed, and gone with Esc; what was found is marked.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::inspect_sample;
using test::Inspecting;
using test::line_with;
using test::Terminal;

class Preview : public ::testing::Test {
protected:
    Terminal t{24, 100, [] { return inspect_sample("partial-offload"); }};
    void SetUp() override {
        ASSERT_TRUE(t.shows("q quit")) << t.text();
        t.press(":tensor l_out-1\n");
        ASSERT_TRUE(t.shows("┬ l_out-1 ")) << t.text();
    }
    bool underlined(const std::string& text) {
        const int row = t.find("│▸").first; // of the selected line
        int col = 0;
        while (row >= 0 && col < 100 && t.cell(row, col) != text.substr(0, 1)) {
            ++col;
        }
        const std::string all = t.attributes();
        const auto at = static_cast<size_t>(row * 100 + col);
        return row >= 0 && col < 100 && (all[at] - '0') >= 4 && (all[at + text.size() - 1] - '0') >= 4;
    }
};

TEST_F(Preview, OfAFilterFollowsEachKey) {
    t.press("&norm");
    ASSERT_TRUE(t.shows("31 of 216 lines")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "RMS_NORM", "norm-2"), "") << "the nearest that is left: " << t.text();
    EXPECT_EQ(line_with(t, "MUL_MAT"), "") << t.text();
    t.press("-3");
    ASSERT_TRUE(t.shows("4 of 216 lines")) << t.text();
    EXPECT_EQ(line_with(t, "norm-2"), "") << t.text();
    t.press("{Backspace}{Backspace}");
    ASSERT_TRUE(t.shows("31 of 216 lines")) << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.shows("┬ l_out-1 ")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "l_out-1"), "") << "the list is as it was: " << t.text();
    EXPECT_EQ(t.find("filtered").first, -1) << t.text();
    t.press("&norm-3\n");
    ASSERT_TRUE(t.shows("4 of 216 lines match norm-3")) << t.text();
    t.press("&{Ctrl-U}Qcur");
    ASSERT_TRUE(t.shows("show only Qcur")) << t.text();
    EXPECT_NE(line_with(t, "Qcur-0"), "") << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.hides("show only")) << t.text();
    EXPECT_NE(line_with(t, "only norm-3"), "") << "the filter before holds: " << t.text();
    EXPECT_EQ(line_with(t, "Qcur-0"), "") << t.text();
}

TEST_F(Preview, OfAQueryThatIsNotWholeIsOfWhatThereIs) {
    t.press("&op");
    ASSERT_TRUE(t.shows("216 of 216 lines so far")) << "a field's name begins so: " << t.text();
    t.press("=");
    ASSERT_TRUE(t.shows("216 of 216 lines so far")) << t.text();
    t.press("SOFT");
    ASSERT_TRUE(t.shows("'SOFT' is no operator; did you mean SOFT_MAX")) << "none of the graph begins so: " << t.text();
    t.press("_MAX");
    ASSERT_TRUE(t.shows("0 of 216 lines")) << t.text();
    t.press("{Ctrl-W}op=ROP");
    ASSERT_TRUE(t.shows("8 of 216 lines so far")) << t.text();
    t.press("E");
    ASSERT_TRUE(t.wait_until([&] { return t.find("8 of 216 lines").first >= 0 && t.find("so far").first < 0; })) << t.text();
    t.press(" bytes>x");
    ASSERT_TRUE(t.shows("query: ")) << "what is wrong is said beside it: " << t.text();
    EXPECT_NE(line_with(t, "ROPE"), "") << t.text();
}

TEST_F(Preview, OfASearchGoesToTheFirstLineThatMatches) {
    t.press("/l_out-3");
    ASSERT_TRUE(t.wait_until([&] { return !line_with(t, "│▸/", "l_out-3").empty(); })) << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.wait_until([&] { return !line_with(t, "│▸", "l_out-1").empty(); })) << t.text();
    EXPECT_TRUE(t.shows("┬ l_out-1 ")) << t.text();
    t.press("/zzz");
    ASSERT_TRUE(t.shows("no line matches")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "l_out-1"), "") << t.text();
    t.press("{Ctrl-U}l_out-3\n");
    ASSERT_TRUE(t.shows("found l_out-3")) << t.text();
    t.press("(");
    ASSERT_TRUE(t.shows("┬ l_out-1 ")) << "the jump began where the search did: " << t.text();
}

TEST_F(Preview, WhatWasFoundIsMarkedWithoutColour) {
    t.press("/ffn_norm\n");
    ASSERT_TRUE(t.shows("found ffn_norm-2")) << t.text();
    EXPECT_NE(line_with(t, "│▸/", "ffn_norm-2"), "") << t.text();
    EXPECT_TRUE(underlined("ffn_norm")) << t.text();
    EXPECT_EQ(line_with(t, "/", "ffn_gate-2"), "") << t.text();
    t.press("/op=rms_norm backend=vulkan0\n");
    ASSERT_TRUE(t.shows("found norm-3")) << t.text();
    EXPECT_TRUE(underlined("RMS_NORM")) << "in any case: " << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.wait_until([&] { return line_with(t, "│▸/").empty(); })) << t.text();
    EXPECT_FALSE(underlined("RMS_NORM")) << t.text();
}

TEST(Places, OfTheTopLineCanBeClicked) {
    Inspecting t(24, 100, [] { return inspect_sample("partial-offload"); });
    const auto click = [&](const std::string& text) { t.click(0, t.find(text).second); };
    click("step ");
    ASSERT_TRUE(t.shows("go to step ")) << t.text();
    t.press("1750\n");
    ASSERT_TRUE(t.shows("in pass 2c rest down")) << t.text();
    click("pass 2c");
    ASSERT_TRUE(t.shows("step 1,770/")) << "its end: " << t.text();
    ASSERT_TRUE(t.hides("in pass 2c")) << t.text();
    click("eval ");
    ASSERT_TRUE(t.shows("├ tokens & reuse ")) << t.text();
    t.resize(15, 60); // the step is what matters most where there is little room
    ASSERT_TRUE(t.shows("step 1,770/2,253 ─")) << t.text();
    EXPECT_TRUE(t.shows("eval 1 (0…3) ─ pass 2c ─")) << t.text();
}

} // namespace
} // namespace schedscope
