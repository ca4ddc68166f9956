#include "tests/viz/parsed.h"
#include "tests/viz/sketch.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/layout/layout_process.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> awkward{"\"quoted\"",
                                       "back\\slash",
                                       "\\N\\G\\n",
                                       "ends with \\",
                                       "two\nlines",
                                       "a<b>&c;&lt;",
                                       "größe ✓ 日本",
                                       "]; x -> y [",
                                       "a:b:c",
                                       "-->",
                                       "broken \xC3( utf8 \xFF",
                                       std::string("nul \0 inside", 12),
                                       ""};

TEST(DotText, KeepsIdsOfAwkwardNamesApart) {
    DotText dot("t");
    for (const std::string& name : awkward) {
        dot.node(std::string("x") + id_of_name(name), {});
    }
    EXPECT_EQ(Parsed(dot.finish()).nodes.size(), awkward.size());
}

TEST(DotText, AttributesAreReadBackAsWritten) {
    DotText dot("t");
    dot.node("n", Attributes().text("label", "say \"hi\" \\N & more").number("bytes", -3).decimal("width", 1.5));
    const Parsed parsed(dot.finish());
    EXPECT_EQ(parsed.label("n"), "say \"hi\" \\\\N &amp; more");
    EXPECT_EQ(parsed.nodes.at("n").at("bytes"), "-3");
    EXPECT_EQ(parsed.nodes.at("n").at("width"), "1.500");
}

TEST(DotText, HtmlLabelIsNeverEmpty) { EXPECT_EQ(html_label(""), " "); }

TEST(DotText, ReplacesWhatIsNotUtf8) {
    const auto shown = [](std::string_view text) { return Attributes().text("label", text).str(); };
    EXPECT_EQ(shown("a\xFF"
                    "b"),
              "label=\"a\xEF\xBF\xBD"
              "b\"");
    EXPECT_EQ(shown("\xC0\xAF"), "label=\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "an overlong slash";
    EXPECT_EQ(shown("\xED\xA0\x80"), "label=\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "half a surrogate pair";
    EXPECT_EQ(shown("日本"), "label=\"日本\"");
}

TEST(DotText, ClipsByCharacter) {
    EXPECT_EQ(clipped("日本語", 2), "日本…");
    EXPECT_EQ(clipped("日本", 2), "日本");
}

TEST(DotText, AwkwardNamesAreShownLiterally) {
    Sketch sketch;
    TensorId last = sketch.leaf("in", {4}, 1, flag_input);
    for (const std::string& name : awkward) {
        last = sketch.add(name, Op::ADD, {4}, 1, {last});
    }
    sketch.split_up();
    const std::string dot = draw_nodes(sketch.subject());
    EXPECT_EQ(Parsed(dot).nodes.size(), awkward.size() + 2) << "the input and the split's title too";
    const std::string svg = run_layout(dot, "svg", {}, "t.svg");
    EXPECT_THAT(svg, HasSubstr(">&quot;quoted&quot;<"));
    EXPECT_THAT(svg, HasSubstr(">back\\slash<"));
    EXPECT_THAT(svg, HasSubstr(">\\N\\G\\n<"));
    EXPECT_THAT(svg, HasSubstr(">a&lt;b&gt;&amp;c;&amp;lt;<"));
    EXPECT_THAT(svg, HasSubstr("größe ✓ 日本"));
    EXPECT_THAT(svg, HasSubstr("two␤lines"));
}

TEST(DotText, TensorsOfOneNameAreNumbered) {
    Sketch sketch;
    const TensorId a = sketch.leaf("x", {4}, 1), b = sketch.leaf("x", {4}, 1), c = sketch.leaf("x@2", {4}, 1);
    const Subject subject = sketch.subject();
    EXPECT_EQ(subject.id(a), "x");
    EXPECT_EQ(subject.id(b), "x@2");
    EXPECT_EQ(subject.id(c), "x%402");
}

} // namespace
} // namespace schedscope
