// Lines too long for their pane: nothing of them is lost, on no size of screen.
#include "inspector/tui/panes/line_wrap.h"

#include "inspector/tui/inspector.h"
#include "inspector/tui/terminal/text.h"
#include "tests/inspector/tui/harness/imported.h"
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"

#include <gtest/gtest.h>

#include <clocale>

namespace schedscope {
namespace {

using test::inspect_sample;
using test::Inspecting;
using test::Terminal;
using namespace tui; // NOLINT: lines and styles

class LineWrap : public ::testing::Test {
protected:
    void SetUp() override { std::setlocale(LC_CTYPE, "C.UTF-8"); }
    static std::string text(const Line& line, int width) {
        std::vector<Line> lines;
        add_line(lines, line, width);
        for (const Line& l : lines) {
            EXPECT_EQ(l.target.id, line.target.id);
        }
        return lines_text(lines);
    }
};

TEST_F(LineWrap, AShortLineIsAsItWas) {
    EXPECT_EQ(text(tui::line("one two"), 7), "one two\n");
    EXPECT_EQ(text(tui::line(""), 7), "\n");
}

TEST_F(LineWrap, ALongOneGoesOnBehindItsLabel) {
    Line l = tui::line("src 0  token_embd.weight (CPU) weight", {}, Target::tensor(7));
    l.hang = 7;
    EXPECT_EQ(text(l, 31), "src 0  token_embd.weight (CPU)\n       weight\n");
    EXPECT_EQ(text(l, 20), "src 0  token_embd.\n       weight (CPU)\n       weight\n") << "not the label alone";
}

TEST_F(LineWrap, ANameThatIsLongerThanTheLineIsBrokenBehindWhatJoinsItsParts) {
    EXPECT_EQ(text(tui::line("by Vulkan0#blk.0.attn_norm.weight#0"), 20), "by Vulkan0#blk.0.\n  attn_norm.weight#0\n");
    EXPECT_EQ(text(tui::line("ran mul_mat_f32"), 14), "ran\n  mul_mat_f32\n") << "one that is not, is not";
    EXPECT_EQ(text(tui::line("abcdefghij"), 8), "abcdefgh\nij\n");
}

TEST_F(LineWrap, EachPieceKeepsItsStyleAndOnlyTheFirstIsMarked) {
    Line l;
    l.now = true;
    l.hang = 2;
    l.parts = {{"what ", dim}, {"bold words here", bold}};
    std::vector<Line> lines;
    add_line(lines, l, 12);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines[0].now);
    EXPECT_FALSE(lines[1].now);
    EXPECT_EQ(lines[0].parts.back().text, "bold");
    EXPECT_EQ(lines[0].parts.back().style, bold);
    EXPECT_EQ(lines[1].parts.back().text, "words here");
    EXPECT_EQ(lines[1].parts.back().style, bold);
}

TEST_F(LineWrap, WideCharactersAreNotHalved) { EXPECT_EQ(text(tui::line("語語語語語語"), 11), "語語語語語\n  語\n"); }

TEST_F(LineWrap, ALabelThatIsTooLongIsNotCut) {
    std::vector<Line> lines;
    add_wrapped(lines, 30, "compute buffer of Vulkan0", 15, "248 KiB → 1.2 MiB");
    EXPECT_EQ(lines_text(lines), "compute buffer of Vulkan0 248\n               KiB → 1.2 MiB\n");
}

/// The texts of the details' lines, one behind the other.
std::string details_of(Terminal& t) {
    std::string all;
    for (const std::string& line : t.lines()) {
        const size_t border = line.find("│", 1), end = line.rfind("│");
        if (border != std::string::npos && border < end) {
            std::string text = line.substr(border + 3, end - border - 3);
            text.erase(0, text.find_first_not_of(' ') == std::string::npos ? text.size() : text.find_first_not_of(' '));
            text.erase(text.find_last_not_of(' ') + 1);
            all += text + " ";
        }
    }
    return all;
}

TEST(NarrowDetails, AreWhole) {
    Inspecting t(24, 80, [] { return test::inspect_imported("2026-05"); });
    EXPECT_EQ(details_of(t).find("not known"), std::string::npos) << t.text();
    t.press(":set unknown on\n");
    EXPECT_TRUE(t.wait_until([&] { return details_of(t).find("type and shape are not known") != std::string::npos; }))
        << t.text();
}

TEST(NarrowDetails, ThatGoOnBelowSaySo) {
    Inspecting t(24, 80, [] { return inspect_sample("partial-offload"); });
    t.press(":tensor attn_norm-0\n");
    ASSERT_TRUE(t.shows("┬ attn_norm-0 ")) << t.text();
    EXPECT_TRUE(t.shows("↓ more ┤")) << t.text();
    EXPECT_TRUE(t.shows("9queries 0values")) << "over no view's name: " << t.text();
    t.press("{Tab}{End}");
    EXPECT_TRUE(t.hides("↓ more")) << t.text();
}

TEST(NarrowScreen, HasRoomForNamesFirst) {
    Inspecting t(15, 40, [] { return inspect_sample("partial-offload"); });
    ASSERT_TRUE(t.shows(" name ")) << t.text();
    EXPECT_TRUE(t.shows("attn_norm-0 ")) << t.text();
}

TEST(NarrowDetails, OfAWhatIfHaveTheirMemoryRows) {
    Inspecting t(60, 80, [] { return inspect_sample("partial-offload"); });
    t.press("wngl=0\n");
    ASSERT_TRUE(t.shows("517 differences in")) << t.text();
    t.press("{Tab}{End}");
    ASSERT_TRUE(t.wait_until([&] { return details_of(t).find("as recorded") != std::string::npos; })) << t.text();
    const std::string details = details_of(t);
    EXPECT_NE(details.find("compute buffer of Vulkan0 "), std::string::npos) << t.text();
    EXPECT_EQ(details.find("…  "), std::string::npos) << t.text();
}

TEST(NarrowDetails, APageIsAllOfANarrowScreenAndHasOneFrame) {
    for (const int cols : {60, 80, 99}) {
        Inspecting t(20, cols, [] { return inspect_sample("partial-offload"); });
        t.press("?");
        ASSERT_TRUE(t.shows("┌─ keys that work here ")) << t.text();
        EXPECT_EQ(t.line(0).rfind("┌"), 0U) << t.text();
        EXPECT_EQ(t.line(1).find("│", 1), t.line(1).rfind("│")) << t.text();
        EXPECT_EQ(t.find("…").first, -1) << "nothing is cut: " << t.text();
    }
    Inspecting t(20, 100, [] { return inspect_sample("partial-offload"); });
    t.press("?");
    ASSERT_TRUE(t.shows(" keys that work here ")) << t.text();
    EXPECT_EQ(t.find("┌─ keys").second, 2) << t.text();
}

TEST(NarrowScreen, ShowsAllTabsAndTheOpenOne) {
    Terminal t(15, 60, [] { return inspect_sample("partial-offload"); });
    ASSERT_TRUE(t.shows("▸1nodes")) << t.text();
    const auto [row, col] = t.find(" 9 0");
    ASSERT_GE(row, 0) << t.text();
    t.click(row, col + 3);
    ASSERT_TRUE(t.shows("▸0values")) << t.text();
    EXPECT_NE(t.line(row).find(" 1 2 "), std::string::npos) << t.text();
    t.press("8");
    ASSERT_TRUE(t.shows("▸8what-if")) << t.text();
}

TEST(AnEmptyView, SaysWhyOverTheWholeWidthAndNoFurther) {
    Inspecting t(15, 60, [] { return inspect_sample("partial-offload"); });
    t.press("8");
    ASSERT_TRUE(t.shows("w asks what would change. Settings are those of")) << t.text();
    EXPECT_EQ(t.find("┬").first, -1) << t.text();
    EXPECT_NE(t.line(11).find("▸8what-if"), std::string::npos) << "the hint ends above the tabs: " << t.text();
    t.press("{Tab}");
    ASSERT_TRUE(t.shows("there are no details: the list is empty")) << t.text();
    t.resize(12, 64);
    ASSERT_TRUE(t.wait_until([&] { return t.line(8).find("├") == 0; })) << t.text();
    t.press("1");
    ASSERT_TRUE(t.shows("┬ embd ")) << t.text();
}

} // namespace
} // namespace schedscope
