#pragma once

#include <string>
#include <string_view>

namespace schedscope {

/// Any bytes to code points, leniently: a byte that begins nothing whole becomes U+FFFD; overlong forms, surrogates and numbers beyond
/// Unicode pass as they are.
std::u32string code_points(std::string_view utf8);

/// Appends the UTF-8 form. False for numbers beyond U+10FFFF, which have none.
bool append_utf8(char32_t c, std::string& out);

} // namespace schedscope
