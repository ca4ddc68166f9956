#pragma once

#include "traces/import/stream/stream_real.h"
#include "traces/replay/foreign/foreign_planner.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace schedscope::import {

/// What came of a plan that is to be made again, from its beginning to its end.
struct ComparedPlan {
    record::PlanBegin begin;
    std::vector<record::PlanBackend> backends;
    std::vector<record::Reorder> reorders; ///< kept back: they stand behind the decisions
    RealPlan real;
};

/// Makes the plans of a stream again whose scheduler's own decisions are in it. Graphs wait here until they are planned.
class StreamPlans {
public:
    void keep(GraphId id, const GraphView& graph, const CapabilityTable& answers);
    /// Whether the graph of the plan is still here: it is, for as many plans as it was described for.
    bool has(GraphId id) const { return graphs_.contains(id); }
    /// The plan's records behind its beginning and its backends. The graph is forgotten with its last plan.
    const std::vector<Fact>& plan(const SessionInfo& session, ComparedPlan plan, std::optional<GraphKind> kind,
                                  const std::function<StringId(std::string_view)>& intern);
    std::optional<bool> op_offload() const { return planner_.op_offload(); } ///< of the last plan, as far as it is known

private:
    struct KeptGraph {
        OwnedGraph graph;
        CapabilityTable answers;
        std::set<std::string, std::less<>> details; ///< texts of answers
        int uses = 0;                               ///< plans of it that are still to come
    };
    std::map<GraphId, KeptGraph> graphs_;
    ForeignPlanner planner_;
};

} // namespace schedscope::import
