#pragma once

#include "runtime/planner/capability_table.h"
#include "traces/replay/foreign/real_plan.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

/// One plan of another program: all that its scheduler decided by, and what it decided.
struct ForeignPlan {
    const SessionInfo& session;
    const GraphView& graph;
    const CapabilityTable& answers; ///< of all backends of the session
    record::PlanBegin begin;
    std::span<const record::PlanBackend> backends; ///< none: all of the session's
    const RealPlan& real;
    bool reserve = false;                 ///< planned for its memory alone
    std::optional<BuildSpan> builds = {}; ///< of llama.cpp that it may come from, as far as the program says it
};

/// Plans what another program's scheduler planned again, so that each decision has its pass, its cause and the answers that it
/// came from, and says whether that is what the scheduler did. Keeps what each of its schedulers keeps from plan to plan. The
/// rules are those of the program's build, or of the newest age that it may be of and that decides as it did; else of any age.
class ForeignPlanner {
public:
    ForeignPlanner();
    ~ForeignPlanner();
    ForeignPlanner(const ForeignPlanner&) = delete;
    ForeignPlanner& operator=(const ForeignPlanner&) = delete;

    /// The plan's records but its PlanBegin and PlanBackends, in order, the Verdict last. Where the plan differs, backends,
    /// splits and inputs are the scheduler's; where it can't be made again, because an answer or a tensor's shape is missing, as
    /// well. `intern`: the number of a text. Valid until the next call.
    const std::vector<Fact>& plan(const ForeignPlan& foreign, const std::function<StringId(std::string_view)>& intern);
    /// Of the last plan: whether weights in host memory might be offloaded, as its PlanBegin says it; where that says nothing,
    /// and what was decided fits a "no" alone, that.
    std::optional<bool> op_offload() const;

private:
    struct State;
    const std::vector<Fact>& planned(const ForeignPlan& foreign, const std::function<StringId(std::string_view)>& intern);
    std::unique_ptr<State> state_;
};

} // namespace schedscope
