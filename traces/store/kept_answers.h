#pragma once

#include "runtime/planner/capability_table.h"

#include <deque>
#include <string>

namespace schedscope {

/// A capability table with texts of its own: the answers' reasons may belong to a driver that goes away earlier. `session` is
/// copied as it is.
struct KeptAnswers {
    CapabilityTable table;
    std::deque<std::string> details;

    KeptAnswers() = default;
    explicit KeptAnswers(const CapabilityTable& from);
    KeptAnswers(KeptAnswers&&) = default;
    KeptAnswers& operator=(KeptAnswers&&) = default;
};

} // namespace schedscope
