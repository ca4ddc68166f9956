#include "traces/import/logged_text.h"

#include "runtime/system/utf8.h"

#include <algorithm>

namespace schedscope::import {

std::string_view trimmed(std::string_view text) noexcept {
    const size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string readable(std::string_view text) {
    std::string out(text);
    for (int cut = 0; cut < 3 && !out.empty() && !is_utf8(out); ++cut) { // a name may be cut within a character
        if ((out.back() & 0x80) == 0) {
            break;
        }
        out.pop_back();
    }
    if (!is_utf8(out)) {
        out = text;
        std::replace_if(
            out.begin(), out.end(), [](char c) { return (c & 0x80) != 0 || c == '\0'; }, '?');
    }
    return out;
}

} // namespace schedscope::import
