#pragma once

#include "traces/history/measure.h"
#include "traces/replay/decisions.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// Counts what plans come to, in their order: compute buffers grow from plan to plan, and are recorded only when they do.
class FigureCounter {
public:
    PlanFigures of(const PlanText& plan);

private:
    std::map<std::pair<std::string, int32_t>, int64_t> chunks_; ///< bytes by buffer type and chunk
};

/// What a plan came to and comes to: the same names for both, in order.
std::vector<Measure> measures_of(const PlanComparison& plan);

/// All that lies in a backend's memory: weights, caches and compute buffers; in the host's also what others mapped or pinned.
struct MemoryFit {
    std::string backend;
    int64_t recorded = 0, now = 0; ///< bytes
    int64_t memory = 0;            ///< that it has; 0: unknown
    bool is_about = false;         ///< what is there now may be some percent more or less
    bool paged = false;            ///< the host's, and all but weights fits: those are read from their file again
    bool is_added = false;         ///< recorded: there was no such backend
    bool is_removed = false;       ///< now: there is no such backend

    bool fits(int64_t bytes) const noexcept { return memory <= 0 || bytes <= memory; }
    /// "fits: 569 KiB of 2.0 GiB", "does not fit: 11.6 GiB too much (35.6 GiB of 24.0 GiB)", "569 KiB of unknown": what matters
    /// first, for narrow columns.
    std::string text(int64_t bytes, bool about = false) const;
    /// The same in few words: "fits: 17.1 of 24.0 GiB", "11.6 GiB too much"; empty: the memory is not known.
    std::string brief(int64_t bytes, bool about = false) const;
    std::string text_of_recorded() const;                          ///< of what lay there
    std::string text_of_now() const;                               ///< of what lies there
    std::string too_much(int64_t bytes, bool about = false) const; ///< "11.6 GiB too much"; empty: it fits, or that is not known
    /// Of what lies there now: "does not fit into big: 11.6 GiB too much"; empty: it fits, or that is not known.
    std::string misfit() const;
};
/// Of the backends in whose memory something lies or lay; `session` as recorded.
std::vector<MemoryFit> memory_fits(const PlanComparison& plan, const SessionInfo& session);

/// The tensors that end up on another backend, or by another rule.
std::vector<TensorChange> changes_of(const PlanText& recorded, const PlanText& now);

} // namespace schedscope
