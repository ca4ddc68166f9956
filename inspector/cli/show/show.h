#pragma once

#include "traces/history/history.h"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string>
#include <string_view>

namespace schedscope::show {

/// What `show --what WHAT` prints for a state: as text for people, as JSON: an object with a list for each table.
struct ShownTopic {
    std::string_view what;
    void (*print)(History& history, const PlanState& state, std::ostream& out);
    nlohmann::json (*json)(History& history, const PlanState& state);
    bool of_all = false; ///< without an evaluation named: of the whole trace (the state's evaluation is −1)
};

/// Null: there is no such topic.
const ShownTopic* find_topic(std::string_view what);
/// "passes|assignments|…", for the usage.
std::string topic_names();

/// A backend's name; null: none.
nlohmann::json backend_json(const History& history, BackendId id);

/// The whole trace at a glance.
void summary_text(History& history, std::ostream& out);
nlohmann::json summary_json(History& history);

} // namespace schedscope::show
