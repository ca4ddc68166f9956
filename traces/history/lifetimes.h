#pragma once

#include "runtime/planner/records.h"

#include <span>
#include <vector>

namespace schedscope {

/// From when to when tensors need the memory they were given. Indices count the nodes of the allocated graph, as
/// record::Placement does.
class Lifetimes {
public:
    /// placements: of one plan; they outlive this.
    explicit Lifetimes(std::span<const record::Placement> placements);

    /// One past the last index at which a tensor has its place to itself: what works in place takes over at its parent's last
    /// use.
    int32_t end_of(const record::Placement& placement) const;

    /// Bytes of a buffer that are needed at once, from one index to the next in the list.
    struct Live {
        int32_t at = 0;
        int64_t bytes = 0;
    };
    std::vector<Live> live_in(const std::vector<const record::Placement*>& one_buffer) const;

    /// Where the most bytes of a buffer are needed at once, and by whom: the largest first.
    struct Peak {
        int64_t bytes = 0;
        int32_t at = 0;
        std::vector<const record::Placement*> holders;
    };
    Peak peak_of(const std::vector<const record::Placement*>& one_buffer) const;

private:
    std::vector<int32_t> taken_over_; ///< [tensor] first use of what works in its place; −1: nothing does
};

} // namespace schedscope
