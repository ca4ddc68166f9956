#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/recorder.h"
#include "traces/replay/foreign/compare_real.h"
#include "traces/replay/foreign/foreign_planner.h"

namespace schedscope {

/// What the records of a foreign plan are made of, beside the plan.
struct ForeignSubject {
    const ForeignPlan& foreign;
    const OwnBackends& own;
    const OwnedGraph& graph;
    const std::function<StringId(std::string_view)>& intern;
};

/// A Reorder for each node that backends moved.
void record_order(const Plan& plan, const GraphView& graph, std::span<const TensorId> order, Recorder& recorder);

/// `facts`: what the planner wrote, by the plan's own numbers. Where the scheduler decided otherwise, what it did stands in their
/// place: assignments with a cause that is not known, splits, inputs, copies; and places, as far as it has them. `rules`:
/// of whom it was planned by; empty: it could not be.
std::vector<Fact> records_of(const ForeignSubject& subject, const std::string& rules, const Plan& plan, bool planned,
                             const RealComparison& comparison, std::span<const Fact> facts, std::span<const PlacedTensor> places);

} // namespace schedscope
