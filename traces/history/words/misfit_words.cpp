#include "traces/history/words/misfit_words.h"

namespace schedscope {

namespace {

constexpr std::string_view misfit = ": does not fit", paged_misfit = ": does not fit at once";

} // namespace

std::string MemoryMisfit::text() const {
    return paged ? memory +
                       ": what lies there does not fit at once, and weights will be read from the file again and again: " + need +
                       what_would
                 : memory + ": what was placed there does not fit: " + need + what_would;
}

std::string MemoryMisfit::brief() const {
    return memory + std::string(paged ? " does not fit at once: " : " does not fit: ") + need.substr(0, need.find(" ("));
}

std::string MemoryMisfit::fact() const { return need + std::string(paged ? paged_misfit : misfit) + what_would; }

std::vector<MemoryMisfit> memory_misfits(const SessionInfo& session) {
    std::vector<MemoryMisfit> misfits;
    for (const auto& [name, value] : session.facts) {
        const size_t at = value.find(misfit);
        if (name.starts_with(memory_fact) && at != std::string::npos) {
            const bool paged = std::string_view(value).substr(at).starts_with(paged_misfit);
            misfits.push_back({name.substr(memory_fact.size()), value.substr(0, at), paged,
                               value.substr(at + (paged ? paged_misfit : misfit).size())});
        }
    }
    return misfits;
}

} // namespace schedscope
