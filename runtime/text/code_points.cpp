#include "runtime/text/code_points.h"

namespace schedscope {

namespace {

/// Bytes that this one says belong to its character; 0: no character begins so.
size_t announced_length(unsigned char first) noexcept {
    return first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
}

} // namespace

std::u32string code_points(std::string_view utf8) {
    constexpr char32_t replacement = 0xFFFD;
    std::u32string result;
    result.reserve(utf8.size());
    for (size_t i = 0; i < utf8.size();) {
        const auto first = static_cast<unsigned char>(utf8[i]);
        const size_t length = announced_length(first);
        bool whole = length > 0 && i + length <= utf8.size();
        char32_t c = length == 1 ? first : first & (0x7FU >> length);
        for (size_t k = 1; whole && k < length; ++k) {
            const auto next = static_cast<unsigned char>(utf8[i + k]);
            whole = (next & 0xC0U) == 0x80U;
            c = c << 6U | (next & 0x3FU);
        }
        result += whole ? c : replacement;
        i += whole ? length : 1;
    }
    return result;
}

} // namespace schedscope
