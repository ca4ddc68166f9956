#pragma once

#include "inspector/tui/views/views.h"
#include "traces/history/history.h"

#include <map>
#include <optional>
#include <vector>

namespace schedscope::tui {

/// A place that was looked at: what can be come back to.
struct TrailPlace {
    Step step = no_step;
    TensorId tensor = no_tensor; ///< of the graph at that step
    ViewId view = ViewId::nodes;

    bool operator==(const TrailPlace&) const = default;
};

/// The list of jumps, walked backward and forward as in a browser, and the marks.
class Trail {
public:
    /// A jump is made from here. What lay ahead is forgotten. The same place twice is one.
    void leave(TrailPlace from) {
        ahead_.clear();
        if (behind_.empty() || behind_.back() != from) {
            behind_.push_back(from);
        }
        if (behind_.size() > longest) {
            behind_.erase(behind_.begin());
        }
    }
    bool can_go_back() const noexcept { return !behind_.empty(); }
    bool can_go_forward() const noexcept { return !ahead_.empty(); }
    /// Where to go; `from` is where the opposite way leads then. Only when it can.
    TrailPlace back(TrailPlace from) { return move(behind_, ahead_, from); }
    TrailPlace forward(TrailPlace from) { return move(ahead_, behind_, from); }

    std::map<char, TrailPlace> marks; ///< by letter, a to z

private:
    static constexpr size_t longest = 256;
    static TrailPlace move(std::vector<TrailPlace>& out_of, std::vector<TrailPlace>& into, TrailPlace from) {
        const TrailPlace to = out_of.back();
        out_of.pop_back();
        into.push_back(from);
        return to;
    }

    std::vector<TrailPlace> behind_, ahead_;
};

} // namespace schedscope::tui
