#include "inspector/cli/lines.h"

#include "traces/utf8.h"

#include <iostream>

namespace schedscope {

std::string one_line(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::string_view before = text;
        const std::optional<char32_t> c = take_character(text);
        if (!c) {
            out += "\xEF\xBF\xBD";
        } else if (*c == '\n') {
            out += "\\n";
        } else if (*c == '\t') {
            out += "\\t";
        } else if (*c < 0x20 || (*c >= 0x7F && *c < 0xA0)) { // the second row begins sequences, too
            out += '?';
        } else {
            out += before.substr(0, before.size() - text.size());
        }
    }
    return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        text.append(text.empty() ? "" : between).append(part);
    }
    return text;
}

void tell(std::string_view sentence) { Line(std::cerr) << "schedscope: " << sentence; }

} // namespace schedscope
