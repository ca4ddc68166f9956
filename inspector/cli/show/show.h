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
    void (*print)(History& history, const PlanState& state, std::ostream& out, bool all); ///< all: also what is not known
    nlohmann::json (*json)(History& history, const PlanState& state);
    bool of_all = false; ///< without an evaluation named: of the whole trace (the state's evaluation is −1)
};

/// Null: there is no such topic.
const ShownTopic* find_topic(std::string_view what);
/// `--what time --by BY`. Null: there is no such BY.
const ShownTopic* find_time(std::string_view by);
std::string time_names(); ///< "role|layer|…"
/// "passes|assignments|…", for the usage.
std::string topic_names();
/// "; did you mean splits?"; empty: none is near.
std::string meant_topic(std::string_view what);
std::string meant_time(std::string_view by); ///< the same of what time is told apart by

/// A backend's name; null: none.
nlohmann::json backend_json(const History& history, BackendId id);

/// The whole trace at a glance.
void summary_text(History& history, EvaluationId evaluation, std::ostream& out, bool all); ///< −1: the one to begin with
nlohmann::json summary_json(History& history, EvaluationId evaluation);

} // namespace schedscope::show
