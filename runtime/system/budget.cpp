#include "runtime/system/budget.h"

namespace schedscope::budget {

std::string in_words(int64_t bytes) {
    return bytes % gib == 0   ? std::to_string(bytes / gib) + " GiB"
           : bytes % mib == 0 ? std::to_string(bytes / mib) + " MiB"
                              : std::to_string(bytes / kib) + " KiB";
}

} // namespace schedscope::budget
