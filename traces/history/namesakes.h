#pragma once

#include "traces/history/history.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// The tensors of a plan that have one name, as a projection, its reshape and its rope.
struct Namesakes {
    TensorId told = no_tensor;    ///< the first of them that computes something; where none does, the first
    size_t n_computed = 0;        ///< how many do, this one among them
    std::vector<TensorId> others; ///< in order of id
};

/// By a name as find_tensors takes it. Throws Error(usage), as find_tensor does, where there is none.
Namesakes find_namesakes(const History& history, const PlanState& state, std::string_view name);
/// Those of a tensor's own name, with that tensor told.
Namesakes namesakes_of(const History& history, const PlanState& state, TensorId tensor);

/// Which is told, and where the others are and by which rule: those that are alike in one line. Empty: there are no others.
std::vector<std::string> namesakes_in_words(const History& history, const PlanState& state, const Namesakes& namesakes);
/// The same in a status line: "norm-0@66, the first that computes; also norm-0@90"; empty: there are no others.
std::string namesakes_in_brief(const History& history, const PlanState& state, const Namesakes& namesakes);

} // namespace schedscope
