#include "inspector/cli/output/lines.h"

#include <iostream>

namespace schedscope {

void tell(std::string_view sentence) {
    constexpr size_t longest = 8192; // two paths as long as the system has them
    OutputLine(std::cerr) << "schedscope: " << visible(sentence, longest);
}

} // namespace schedscope
