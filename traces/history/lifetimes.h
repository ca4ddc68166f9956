#pragma once

#include "runtime/planner/records.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// What "place 57" counts, wherever memory is shown. A node's number is another one.
inline constexpr std::string_view places_count =
    "places count the nodes as they run, and two more for each input of a split: its source and its copy";

std::string place_in_words(int32_t place, std::string_view taken_by); ///< "place 57 (ffn_up-1)"; empty: the place alone

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
        const record::Placement* taken = nullptr; ///< the tensor whose bytes are taken there; null: several's are
    };
    Peak peak_of(const std::vector<const record::Placement*>& one_buffer) const;

private:
    std::vector<int32_t> taken_over_; ///< [tensor] first use of what works in its place; −1: nothing does
};

} // namespace schedscope
