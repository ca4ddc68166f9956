#include "traces/history/words/misfit_words.h"

#include "runtime/system/joined.h"

namespace schedscope {

std::string_view misfit_words(bool paged) noexcept { return paged ? "does not fit at once" : "does not fit"; }

std::string MemoryMisfit::text() const {
    return joined({memory, paged ? ": what lies there " : ": what was placed there ", misfit_words(paged),
                   paged ? ", and weights will be read from the file again and again: " : ": ", need, what_would});
}

std::string MemoryMisfit::brief() const {
    return joined({memory, " ", misfit_words(paged), ": ", need.substr(0, need.find(" ("))});
}

std::string MemoryMisfit::fact() const { return joined({need, ": ", misfit_words(paged), what_would}); }

std::vector<MemoryMisfit> memory_misfits(const SessionInfo& session) {
    const auto behind_need = [](bool paged) { return joined({": ", misfit_words(paged)}); };
    const std::string misfit = behind_need(false), paged_misfit = behind_need(true);
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
