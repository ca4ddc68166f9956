#include "traces/utf8.h"

#include <cstddef>
#include <cstdint>

namespace schedscope {

bool is_utf8(std::string_view text) noexcept {
    for (size_t i = 0; i < text.size();) {
        const auto first = static_cast<uint8_t>(text[i]);
        if (first == 0) {
            return false;
        }
        const size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
        if (length == 0 || i + length > text.size()) {
            return false;
        }
        for (size_t k = 1; k < length; ++k) {
            if ((static_cast<uint8_t>(text[i + k]) & 0xC0) != 0x80) {
                return false;
            }
        }
        if (length > 2) { // overlong forms, surrogates, beyond the last character
            const auto second = static_cast<uint8_t>(text[i + 1]);
            if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
                (first == 0xF4 && second > 0x8F)) {
                return false;
            }
        }
        i += length;
    }
    return true;
}

} // namespace schedscope
