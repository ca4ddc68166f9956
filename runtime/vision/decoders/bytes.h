#pragma once

#include "runtime/numbers.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Reading formats that are made of bytes. What is asked for must be there.
namespace schedscope::vision {

inline int byte_at(std::span<const std::byte> bytes, size_t at) { return ordinal(bytes[at]); }

/// A number of `n` bytes, the highest first.
inline int64_t highest_first(std::span<const std::byte> bytes, size_t at, size_t n) {
    int64_t value = 0;
    for (size_t i = 0; i < n; ++i) {
        value = value << 8 | byte_at(bytes, at + i);
    }
    return value;
}
/// The same with the lowest first.
inline int64_t lowest_first(std::span<const std::byte> bytes, size_t at, size_t n) {
    int64_t value = 0;
    for (size_t i = n; i-- > 0;) {
        value = value << 8 | byte_at(bytes, at + i);
    }
    return value;
}

inline bool has_text(std::span<const std::byte> bytes, size_t at, std::string_view text) {
    return bytes.size() >= at + text.size() &&
           std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, text.size()) == text;
}

} // namespace schedscope::vision
