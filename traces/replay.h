#pragma once

#include "traces/record_source.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope {

/// One decision that came out differently.
struct ReplayDifference {
    EvaluationId evaluation = 0;
    TensorId tensor = no_tensor; ///< none: about a split or the plan as a whole
    std::string name;            ///< of the tensor, else "split 3", "plan"
    std::string
        what; ///< assignment | split | input | copy | rewire | graph_input | order | placement | buffer | reallocation | plan
    std::string recorded, now; ///< one line each; empty: there is none
};

struct ReplayResult {
    int64_t plans = 0; ///< evaluations planned again
    int64_t compared = 0, identical = 0;
    std::vector<ReplayDifference> differences; ///< in order; at most ReplayOptions::max_differences
    int64_t n_differences = 0;
};

/// Everything that a plan depends on, for whoever wants to know what another answer would have changed.
struct ReplayInput {
    SessionInfo& session;
    OwnedGraph& graph;
    CapabilityTable& answers;
    bool& op_offload;
    int32_t& n_stages;
    int32_t& current_stage;
    int32_t n_tokens; ///< of the ubatch that it was planned for
};

struct ReplayOptions {
    std::function<void(ReplayInput&)> change; ///< called before each plan; empty: as recorded
    size_t max_differences = 1000;
};

/// Plans every planned evaluation of a trace again, in order, from the recorded graphs, answers and options, with what the scheduler keeps from graph to graph, and
/// compares each decision. Needs no device. The backends' own reorderings are taken from the records, not decided anew.
/// Throws Error(input) when the source can't be read or holds no plan.
ReplayResult replay(const RecordSource& source, const ReplayOptions& options = {});

} // namespace schedscope
