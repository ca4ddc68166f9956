#pragma once

#include "traces/history/measure.h"
#include "traces/replay/decisions.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// Counts what plans come to, in their order: compute buffers grow from plan to plan, and are recorded only when they do.
class FigureCounter {
public:
    PlanFigures of(const PlanText& plan);

private:
    std::map<std::pair<std::string, int32_t>, int64_t> chunks_; ///< bytes by buffer type and chunk
};

/// What a plan came to and comes to: the same names for both, in order.
std::vector<Measure> measures_of(const PlanComparison& plan);

/// The tensors that end up on another backend, or by another rule.
std::vector<TensorChange> changes_of(const PlanText& recorded, const PlanText& now);

} // namespace schedscope
