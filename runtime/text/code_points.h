#pragma once

#include <string>
#include <string_view>

namespace schedscope {

/// Any bytes to code points, leniently: a byte that begins nothing whole becomes U+FFFD; overlong forms, surrogates and numbers beyond
/// Unicode pass as they are.
std::u32string code_points(std::string_view utf8);

} // namespace schedscope
