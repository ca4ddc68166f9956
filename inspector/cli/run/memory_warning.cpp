#include "inspector/cli/run/memory_warning.h"

#include "inspector/cli/output/lines.h"
#include "traces/history/words/misfit_words.h"

#include <algorithm>

namespace schedscope {

void warn_of_memory(std::span<const MemoryNeed> needs, const std::function<void(std::string what, std::string value)>& add_fact,
                    const std::string& what_would) {
    const bool host_alone =
        std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.is_host || need.fits(); });
    const auto last = std::find_if(needs.rbegin(), needs.rend(),
                                   [&](const MemoryNeed& need) { return need.is_host == host_alone && !need.fits(); });
    for (const MemoryNeed& need : needs) {
        const std::string name = std::string(memory_fact) + need.buffer_type;
        if (need.fits_at_once()) {
            add_fact(name, need.text() + (need.memory > 0 ? ": fits" : ""));
            continue;
        }
        const MemoryMisfit misfit{need.buffer_type, need.text(), need.fits(),
                                  last != needs.rend() && &need == &*last ? what_would : ""};
        add_fact(name, misfit.fact());
        tell(misfit.text());
    }
}

} // namespace schedscope
