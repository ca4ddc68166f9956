#pragma once

#include "runtime/planner/device_profile.h"
#include "runtime/planner/memory/allocated_graph.h"
#include "traces/history/accounts/summary.h"
#include "traces/store/record_source.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

/// What a plan comes to.
struct PlanFigures {
    std::map<std::string, int64_t> nodes;  ///< by backend
    std::map<std::string, int64_t> memory; ///< bytes, by what and buffer type: "weights in Vulkan0", "KV cache in CPU", "sampling
                                           ///< state in CPU", "inputs in CPU", "compute buffer of Vulkan0"
    std::map<std::string, int64_t> by_buffer_type; ///< the same bytes, all that lie in each
    int64_t splits = 0, copies = 0;                ///< copies: tensors made for them, one a stage
    int64_t inputs = 0, bytes_moved = 0;           ///< of splits, in an evaluation
    std::optional<int64_t> fused_groups;           ///< nodes that run as one kernel; nothing: not known
    std::string error;                             ///< why there is no plan
    bool about = false; ///< compute buffers: in which order a backend of another program runs such splits is not known
    bool operator==(const PlanFigures&) const = default;
};

/// A device that a change added.
struct AddedDevice {
    std::string name, buffer_type; ///< its own memory's
    int64_t memory = 0;            ///< bytes that it has; 0: unknown
};

/// A tensor that ends up elsewhere, or by another rule.
struct TensorChange {
    TensorId tensor = no_tensor; ///< of the recorded graph; none: it has no such tensor
    std::string name;
    bool is_node = false;
    Pass pass = Pass::none;                    ///< the first that decides otherwise
    std::string recorded_backend, now_backend; ///< empty: it is not there
    std::string recorded_cause, now_cause;     ///< "1.wgt0"
};

/// One plan as it was and as it is now.
struct PlanComparison {
    EvaluationId evaluation = 0;
    std::optional<GraphKind> kind;
    std::optional<int32_t> n_tokens;
    PlanFigures recorded, now;
    std::vector<AddedDevice> added;           ///< in the order of the backends
    std::vector<std::string> removed;         ///< backends that are not there now
    std::vector<TensorChange> changes;        ///< in the order of the graph, what only the new one has behind
    std::map<std::string, int64_t> otherwise; ///< all decisions that differ, by what (ReplayDifference)
    bool reordered = false;                   ///< the same nodes run in another order
    std::string stays_as_recorded;            ///< why the change leaves this plan as it was: "ngl=3: …"; empty: it does not
    bool has_older_buffers = false;           ///< recorded: its compute buffers may be larger (accounts::are_older)
    std::string flash_caveat; ///< of another program's plan: what llama.cpp does then with -fa auto; empty: nothing else
};

struct ReplayResult {
    int64_t plans = 0; ///< evaluations planned again
    int64_t compared = 0, identical = 0;
    std::vector<ReplayDifference> differences; ///< in order; at most ReplayOptions::max_differences
    int64_t n_differences = 0;
    std::vector<PlanComparison> comparisons; ///< one a plan, where something was changed
    /// The last plan, where the recording stopped in it: what came behind can't be compared.
    struct Stopped {
        EvaluationId evaluation = 0;
        accounts::UnfinishedPlan plan;
        bool planned = false; ///< its memory alone is left out; else all of it is, and it is not among `plans`
        /// "evaluation 30 is left out: the plan ends in pass 2c (rest down): the recording stopped there"
        std::string told() const;
    };
    std::optional<Stopped> stopped;
};

/// Everything that a plan depends on, for whoever wants to know what another answer would have changed.
struct ReplayInput {
    SessionInfo& session;
    OwnedGraph& graph;
    CapabilityTable& answers;
    bool& op_offload;
    int64_t& offload_min_batch; ///< as PlanOptions has it; the answers say what follows from it
    int32_t& n_stages;
    int32_t& current_stage;
    int32_t n_tokens; ///< of the ubatch that it was planned for
    EvaluationId evaluation;
    bool reserve;                                         ///< planned for its memory alone, before the evaluation's own graph
    const std::vector<record::Alternative>& alternatives; ///< what its graph would have been with other settings
    const std::vector<BackendId>& own;                    ///< backends that its scheduler has, in its order; empty: all
    bool renumbered = false;                              ///< set by who numbered session, graph and answers by the plan's own
    std::string stays_as_recorded{};                      ///< set by who leaves the plan as it was: why
};

/// The order in which the backends of a session will run a plan's nodes, and their groups, which decide what memory they share.
/// Who knows the backends gives it (runtime's optimised_nodes).
using OptimiseNodes = std::function<OptimisedNodes(const GraphView&, const Plan&, const SessionInfo&)>;

struct ReplayOptions {
    std::function<void(ReplayInput&)> change; ///< called before each plan; empty: as recorded
    std::string instead;                      ///< what is said behind the reason where it leaves each plan as it was
    /// Asked for what is not recorded, that is with `change`, and for graphs that only reserved memory. Empty: as recorded where
    /// the graph and its splits are, else the graph's order, without groups.
    OptimiseNodes optimise;
    std::optional<bool> fusion; ///< whether backends fuse and reorder nodes; nothing: as recorded
    /// Compare with what this trace recorded, plan by plan, instead of the plans' own records. Graphs are matched by names
    /// (align.h).
    const RecordSource* expected = nullptr;
    size_t max_differences = 1000;
    /// This evaluation's plan by itself, without what the scheduler kept of those before but the sizes of its buffers: plans
    /// that those come from are made again for their memory alone.
    std::optional<EvaluationId> only;
    /// Described devices that `change` asks, by name, for their counts afterwards.
    std::vector<std::pair<std::string, std::shared_ptr<const DeviceProfile>>> profiles;
};

/// "28 plans made again: 10031 of 10031 decisions identical, counted pass by pass": all that a pass puts down, every assignment,
/// splits, inputs, copies, buffers, places in memory. A verdict counts what ggml lets see of them.
std::string text_of(const ReplayResult& result);

/// Plans every planned evaluation of a trace again, in order, from the recorded graphs, answers and options, with what the
/// scheduler keeps from graph to graph, and compares each decision. Needs no device. As recorded, the backends' own reorderings
/// are taken from the records, not decided again. Throws Error(input) when the source can't be read or holds no plan,
/// Error(usage) when the change leaves each plan as it was.
ReplayResult replay(const RecordSource& source, const ReplayOptions& options = {});

} // namespace schedscope
