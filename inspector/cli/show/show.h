#pragma once

#include "traces/history/tables/tables.h"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>

namespace schedscope::show {

/// What `show --what WHAT` prints for a state: as text for people, as JSON: an object with one list. One pair per table; the summary is the first.
struct Topic {
    const char* what;
    void (*text)(History& history, const PlanState& state, std::ostream& out);
    nlohmann::json (*json)(History& history, const PlanState& state);
    bool of_all = false; ///< without an evaluation named: of the whole trace (the state's evaluation is −1)
};

/// Null: there is no such topic.
const Topic* find_topic(std::string_view what);
/// "passes|assignments|…", for the usage.
std::string topic_names();

/// The whole trace at a glance.
void summary_text(History& history, std::ostream& out);
nlohmann::json summary_json(History& history);

} // namespace schedscope::show
