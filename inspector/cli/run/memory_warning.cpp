#include "inspector/cli/run/memory_warning.h"

#include "inspector/cli/output/lines.h"

#include <iostream>

namespace schedscope {

void warn_of_memory(std::span<const MemoryNeed> needs, const std::function<void(std::string what, std::string value)>& add_fact,
                    const std::string& what_would) {
    for (const MemoryNeed& need : needs) {
        const bool read_again = need.fits() && !need.fits_at_once();
        add_fact("memory of " + need.buffer_type, need.text() + (!need.fits()      ? ": does not fit" + what_would
                                                                 : read_again      ? ": does not fit at once"
                                                                 : need.memory > 0 ? ": fits"
                                                                                   : ""));
        if (read_again) {
            tell(
                need.buffer_type +
                ": what lies there does not fit at once, and weights will be read from the file again and again: " + need.text());
        }
        if (!need.fits()) {
            tell(need.buffer_type + ": what was placed there does not fit: " + need.text() + what_would);
        }
    }
}

} // namespace schedscope
