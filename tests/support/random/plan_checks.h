#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"

#include <string>

/// What must hold for any plan, each worked out from the graph, the answers and the plan alone. They return what is wrong; empty:
/// nothing.
namespace schedscope::test {

/// A plan with the memory that was planned for it.
struct PlanView {
    const GraphView& graph;
    const Capabilities& answers;
    const Plan& plan;
    const MemoryPlan& memory;

    const TensorInfo& info(TensorId id) const { return graph.tensors[static_cast<size_t>(id)]; }
    const Assignment& assignment(TensorId id) const { return plan.assignments[static_cast<size_t>(id)]; }
    std::string name(TensorId id) const;
    /// The tensor whose memory it lies in.
    TensorId root(TensorId id) const;
    /// The kind of memory that it really lies in; none: nowhere.
    BufferTypeId memory_of(TensorId id) const;
    /// What node's source slot reads after rewiring.
    TensorId reads(TensorId node, int slot) const;
    /// Index of the split that the node at this position lies in; −1: in none.
    int32_t split_of(int32_t position) const;
};

/// Does a node write into memory that its backend can't use? The reference plans that; here it is refused when the graph is to
/// run (scheduler.cpp).
bool writes_out_of_reach(const PlanView& view);

/// Every node runs on a backend that supports it, and all it reads and writes lies in memory that this backend can use.
std::string check_support(const PlanView& view);
/// Splits follow each other without a gap; each has a reason that fits, and nodes of its backend only.
std::string check_splits(const PlanView& view);
/// Each copy is made in a split that lies behind its source and not behind its users, nothing writes the source in between, and
/// each is used.
std::string check_copies(const PlanView& view);
/// With several stages: every input has a copy per stage, and so has every copy; all keep their memory from the beginning to the
/// end.
std::string check_stages(const PlanView& view);

} // namespace schedscope::test
