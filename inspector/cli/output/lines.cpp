#include "inspector/cli/output/lines.h"

#include <iostream>

namespace schedscope {

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        text.append(text.empty() ? "" : between).append(part);
    }
    return text;
}

void tell(std::string_view sentence) {
    constexpr size_t longest = 8192; // two paths as long as the system has them
    OutputLine(std::cerr) << "schedscope: " << visible(sentence, longest);
}

} // namespace schedscope
