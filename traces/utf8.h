#pragma once

#include <string_view>

namespace schedscope {

/// Well-formed UTF-8, without NUL? Pieces of tokens often are not.
bool is_utf8(std::string_view text) noexcept;

} // namespace schedscope
