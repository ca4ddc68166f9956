#include "runtime/system/utf8.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

struct Case {
    std::string_view text;
    std::optional<char32_t> first;
    size_t taken; ///< bytes
};

TEST(Utf8, TakesOneCharacterOrOneByteThatIsNone) {
    using namespace std::string_view_literals;
    for (const Case& c : {Case{"ab", U'a', 1},
                          {"\0b"sv, U'\0', 1},
                          {"\xC3\xA9x", 0xE9, 2},
                          {"\xE2\x82\xACx", 0x20AC, 3},
                          {"\xEF\xBF\xBE", 0xFFFE, 3}, // is none to be shown, and well-formed
                          {"\xF0\x9F\x98\x80x", 0x1F600, 4},
                          {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4},
                          {"\x80", std::nullopt, 1},
                          {"\xC3", std::nullopt, 1},             // cut off
                          {"\xE2\x82", std::nullopt, 1},         // cut off
                          {"\xE2x\xAC", std::nullopt, 1},        // broken by another
                          {"\xC0\xAF", std::nullopt, 1},         // overlong
                          {"\xE0\x80\xAF", std::nullopt, 1},     // overlong
                          {"\xF0\x80\x80\xAF", std::nullopt, 1}, // overlong
                          {"\xED\xA0\x80", std::nullopt, 1},     // half a surrogate pair
                          {"\xF4\x90\x80\x80", std::nullopt, 1}, // beyond the last
                          {"\xFF", std::nullopt, 1}}) {
        std::string_view text = c.text;
        EXPECT_EQ(take_character(text), c.first) << c.text;
        EXPECT_EQ(c.text.size() - text.size(), c.taken) << c.text;
        EXPECT_EQ(is_utf8(c.text.substr(0, c.taken)), c.first.value_or(0) != 0) << c.text;
    }
}

TEST(Utf8, ReplacesWhatIsIllFormedByteByByte) {
    using namespace std::string_view_literals;
    EXPECT_EQ(as_utf8("a\xE2\x82z\0é"sv), "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBDé");
}

} // namespace
} // namespace schedscope
