#include "inspector/cli/output/lines.h"

#include "runtime/system/number_words.h"

#include <iostream>

namespace schedscope {

void tell(std::string_view sentence) {
    constexpr size_t longest = 8192; // two paths as long as the system has them
    OutputLine(std::cerr) << "schedscope: " << visible(sentence, longest);
}

void tell_of_trace(std::string_view trace, int64_t n_evaluations, const std::string& kept, const std::string& also) {
    OutputLine line(std::cerr);
    line << "wrote " << trace << ": " << words::counted(n_evaluations, "evaluation") << kept << (also.empty() ? "" : "; " + also);
    if (n_evaluations > 0) { // else there is nothing to look at
        line << "; next: schedscope inspect " << trace;
    }
}

} // namespace schedscope
