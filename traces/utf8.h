#pragma once

#include <string>
#include <string_view>

namespace schedscope {

/// Well-formed UTF-8, without NUL? Pieces of tokens often are not.
bool is_utf8(std::string_view text) noexcept;

/// The text, with U+FFFD for each byte that makes it ill-formed.
std::string as_utf8(std::string_view text);

} // namespace schedscope
