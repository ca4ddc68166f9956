#pragma once

#include "runtime/planner/memory/allocate.h"
#include "traces/replay/foreign/own_backends.h"
#include "traces/replay/foreign/real_plan.h"

#include <optional>
#include <string>

namespace schedscope {

/// How much of what a scheduler did was planned the same.
struct RealComparison {
    int64_t decisions = 0, identical = 0;
    int64_t placements = 0, placements_identical = 0;
    int64_t causes = 0, causes_identical = 0;
    std::string first; ///< difference; empty: there is none
    TensorId tensor = no_tensor;

    bool same_decisions() const noexcept { return decisions == identical; }
    bool same() const noexcept { return same_decisions() && placements == placements_identical && causes == causes_identical; }
    /// Who decides more of it the same, and less otherwise, is nearer.
    int64_t nearness() const noexcept {
        return 2 * (identical + placements_identical + causes_identical) - (decisions + placements + causes);
    }
};

/// One graph with both of its plans. `session`: all backends.
struct RealSubject {
    const SessionInfo& session;
    const GraphView& graph;
    const OwnBackends& own;
    const RealPlan& real;
};

/// `plan`: by the plan's own backends; null: there is none, because of `error`.
void compare_plan(const RealSubject& subject, const Plan* plan, const std::string& error, RealComparison& out);
void compare_memory(const RealSubject& subject, const Plan& plan, const MemoryPlan* memory, const std::string& error,
                    RealComparison& out);
/// The planned tensor that a real place is about: the graph's, or the copy; none: nothing like it was planned.
TensorId planned_id(const Plan& plan, const OwnBackends& own, TensorId tensor, const RealCopy& copy);
/// The stage whose copies are read, as those say it, or else the places: of the stages that they name it is the one that is
/// missing, because the tensor itself stands for it. None: there is one stage, or it is not known.
std::optional<int32_t> stage_of(const RealPlan& real, int32_t n_stages);
/// Copies in the order in which nodes read them first, as some programs number them.
std::vector<RealCopy> copies_in_order(const RealPlan& real);

} // namespace schedscope
