#include "runtime/system/visible_text.h"

#include <gtest/gtest.h>

#include <string>

namespace schedscope {
namespace {

using namespace std::string_view_literals;

TEST(VisibleText, ControlCharactersAreSeenAndNotSent) {
    EXPECT_EQ(visible("a\x1b[2Jb\x7f"), "a?[2Jb?");
    EXPECT_EQ(visible("\0\a\r"sv), "???");
    EXPECT_EQ(visible("a\nb\tc"), "a\\nb\\tc") << "a line stays one";
    EXPECT_EQ(visible("\xC2\x80\xC2\x85\xC2\x9B\xC2\x9F\xC2\xA0"), "????\xC2\xA0") << "the second row, as UTF-8";
    EXPECT_EQ(visible("\x9b"
                      "2J\x85"),
              "\xEF\xBF\xBD"
              "2J\xEF\xBF\xBD")
        << "the second row, as bytes";
    EXPECT_EQ(visible("→ é 語"), "→ é 語");
}

TEST(VisibleText, SoIsWhatTurnsLettersAround) {
    for (const char32_t c : {U'\u061C', U'\u200E', U'\u200F', U'\u202A', U'\u202E', U'\u2066', U'\u2069', U'\u2028', U'\u2029'}) {
        EXPECT_TRUE(is_control(c)) << static_cast<uint32_t>(c);
    }
    for (const char32_t c : {U'\u061B', U'\u061D', U'\u200D', U'\u2010', U'\u2027', U'\u202F', U'\u2065', U'\u206A', U'א'}) {
        EXPECT_FALSE(is_control(c)) << static_cast<uint32_t>(c);
    }
    EXPECT_EQ(visible("a\u202Ecod\u2069"), "a?cod?");
}

TEST(VisibleText, OfALongOneTheBeginning) {
    EXPECT_EQ(visible("abc", 3), "abc");
    EXPECT_EQ(visible("äbcd", 3), "äbc…");
    EXPECT_EQ(visible_name(std::string(80, 'x')), std::string(80, 'x'));
    EXPECT_EQ(visible_name(std::string(1 << 20, '\n')).size(), 2 * 80 + "…"sv.size());
}

TEST(VisibleText, JsonSaysWhichCharacterItWas) {
    EXPECT_EQ(escape_controls("[\"a\x7f\xC2\x9B\u202E\u061Cé\u2028\"]\n"), "[\"a\\u007f\\u009b\\u202e\\u061cé\\u2028\"]\n");
    EXPECT_EQ(escape_controls("{\"é→\":1}"), "{\"é→\":1}");
}

TEST(VisiblePieces, AreShownAsTheWholeWhereverItIsCut) {
    const std::string text = "a\n\tb\r\x1b]52;c;aA\x07é\xC2\x9B\u202Ex\x9b\xE2\x82y\xF0\x9F\x98\x80\xF0\x9F\x98";
    const std::string replaced = "\xEF\xBF\xBD";
    const std::string shown = "a\n\tb??]52;c;aA?é??x" + replaced + replaced + replaced + "y\xF0\x9F\x98\x80";
    const std::string rest = replaced + replaced + replaced;
    for (size_t first = 0; first <= text.size(); ++first) {
        for (size_t second = first; second <= text.size(); ++second) {
            VisiblePieces pieces;
            std::string all = pieces.add(text.substr(0, first));
            all += pieces.add(text.substr(first, second - first));
            all += pieces.add(text.substr(second));
            ASSERT_EQ(all, shown) << first << ' ' << second;
            EXPECT_EQ(pieces.finish(), rest);
            EXPECT_EQ(pieces.finish(), "");
        }
    }
}

TEST(VisiblePieces, AreShownAsSoonAsTheyAreWhole) {
    VisiblePieces pieces;
    EXPECT_EQ(pieces.add("a\xE2"), "a");
    EXPECT_EQ(pieces.add("\x86"), "");
    EXPECT_EQ(pieces.add("\x92"), "→");
    EXPECT_EQ(pieces.add("\xE2"), "");
    EXPECT_EQ(pieces.add("b"), "\xEF\xBF\xBD"
                               "b");
}

} // namespace
} // namespace schedscope
