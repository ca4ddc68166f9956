#pragma once

#include "inspector/tui/state/trail.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// What is kept of an inspector's session about one trace, so that it can be gone on with. A text file, an item a line:
///
///     schedscope-session 1
///     trace /home/me/run.trace
///     steps 48310                what is kept holds for a trace of that many
///     place 1204 61 1            step, tensor (−1: none) and view
///     filter op=MUL_MAT          also: search
///     break kind=token           each breakpoint; break-off: one that is disabled
///     mark a 310 12 2
///     typed-filter op=MUL_MAT    what was typed before, oldest first; also: typed-search, typed-break, typed-command
struct SavedSession {
    std::string trace; ///< its absolute path
    Step n_steps = 0;
    TrailPlace place;
    std::string filter, search;
    struct SavedBreakpoint {
        std::string query;
        bool enabled = true;
        bool operator==(const SavedBreakpoint&) const = default;
    };
    std::vector<SavedBreakpoint> breakpoints; ///< in their order
    std::map<char, TrailPlace> marks;
    std::array<std::vector<std::string>, 4> typed; ///< filters, searches, breakpoints, commands

    std::string text() const;
    /// False, and `note` says why, when it isn't about that trace as it is now, or is no such file at all. Items that aren't
    /// understood are left out, which `note` says, too.
    static bool parse(std::string_view text, std::string_view trace, Step n_steps, SavedSession& session, std::string& note);
};

} // namespace schedscope::tui
