#pragma once

#include "inspector/tui/views/views.h"
#include "traces/history/history.h"

#include <map>
#include <optional>
#include <vector>

namespace schedscope::tui {

/// Where somebody was: what can be come back to.
struct Place {
    Step step = no_step;
    TensorId tensor = no_tensor; ///< of the graph at that step
    ViewId view = ViewId::nodes;

    bool operator==(const Place&) const = default;
};

/// The list of jumps, walked backward and forward as in a browser, and the marks.
class Trail {
public:
    /// A jump is made from here. What lay ahead is forgotten. The same place twice is one.
    void leave(Place from) {
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
    Place back(Place from) { return move(behind_, ahead_, from); }
    Place forward(Place from) { return move(ahead_, behind_, from); }

    std::map<char, Place> marks; ///< by letter, a to z

private:
    static constexpr size_t longest = 256;
    static Place move(std::vector<Place>& out_of, std::vector<Place>& into, Place from) {
        const Place to = out_of.back();
        out_of.pop_back();
        into.push_back(from);
        return to;
    }

    std::vector<Place> behind_, ahead_;
};

} // namespace schedscope::tui
