#include "inspector/cli/output/lines.h"

#include "runtime/system/number_words.h"

#include <iostream>

namespace schedscope {

void tell(std::string_view sentence) {
    constexpr size_t longest = 8192; // two paths as long as the system has them
    OutputLine(std::cerr) << "schedscope: " << visible(sentence, longest);
}

void tell_of_trace(std::string_view trace, int64_t n_evaluations, const std::string& kept, const std::string& also) {
    OutputLine(std::cerr) << "wrote " << trace << ": " << words::counted(n_evaluations, "evaluation") << kept
                          << (also.empty() ? "" : "; " + also) << "; next: schedscope inspect " << trace;
}

} // namespace schedscope
