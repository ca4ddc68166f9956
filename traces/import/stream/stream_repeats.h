#pragma once

#include "runtime/planner/capability_table.h"
#include "runtime/planner/records.h"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace schedscope::import {

/// A server plans the same again and again. Graphs and plans that came lately are kept here, so that one that is just the same is
/// written once; memory stays bounded, and what was forgotten is written again.
class StreamRepeats {
public:
    /// The number in the trace of a graph that is the same in all, with all answers; nothing: it is to be written.
    std::optional<GraphId> graph(const GraphView& graph, const CapabilityTable& answers) const;
    void keep(GraphId id, const GraphView& graph, const CapabilityTable& answers);

    /// A plan of a graph: what it begins with, and all its records behind that.
    struct PlanRecords {
        record::PlanBegin begin;
        std::vector<record::PlanBackend> backends;
        std::vector<Fact> facts;
    };
    /// The evaluation that has the same plan; nothing: none, or memory was planned again for this one, so that plans behind it
    /// depend on it.
    std::optional<EvaluationId> plan(const PlanRecords& plan) const;
    void keep(EvaluationId made_in, PlanRecords plan);

private:
    struct KnownGraph {
        GraphId id = 0;
        uint64_t hash = 0;
        OwnedGraph graph;
        CapabilityTable answers;
        std::set<std::string, std::less<>> details; ///< texts of answers
    };
    struct KnownPlan {
        EvaluationId made_in = 0;
        PlanRecords plan;
    };
    std::deque<KnownGraph> graphs_; ///< the newest last
    std::deque<KnownPlan> plans_;
    size_t n_tensors_ = 0, n_facts_ = 0;
};

} // namespace schedscope::import
