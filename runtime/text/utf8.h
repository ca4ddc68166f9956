#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace schedscope {

/// Bytes of the character that begins with this byte, by its high bits alone; continuation bytes count as characters of one byte.
constexpr size_t utf8_length(char first) noexcept {
    constexpr std::array<size_t, 16> by_high_bits = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    return by_high_bits[static_cast<unsigned char>(first) >> 4U];
}

constexpr std::string_view spm_space = "\xE2\x96\x81"; ///< U+2581, which stands for a space in SPM vocabularies

} // namespace schedscope
