#pragma once

#include "traces/history/history.h"
#include "viz/query/query.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace schedscope::query {

/// The name of a node of which nothing is known.
constexpr const char* left_out_name = "(unknown)";

/// Says in the query language's fields what tensors and records are. Names of copies are looked up once per plan and kept: the
/// texts of facts live as long as the describer.
class Describer {
public:
    explicit Describer(History& history) : history_(history) {}

    /// A tensor of a state, as the list of nodes shows it.
    void tensor(const PlanState& state, TensorId id, Facts& facts);
    void record(const Record& record, Facts& facts);
    /// Which tensor something is about: its id, and its position among the nodes in the order of a step.
    void about(EvaluationId evaluation, Step step, TensorId id, Facts& facts);

    /// The graph that an evaluation runs; null: it planned none.
    const OwnedGraph* graph_of(EvaluationId evaluation);
    /// "ffn_norm-3", of a copy "Vulkan0#norm-3#0"; "" for none.
    std::string_view name(EvaluationId evaluation, TensorId id);

private:
    struct Planned {
        GraphId graph = -1;
        bool copies_known = false;
        std::deque<std::string> copies; ///< names of ids from n_tensors on; only ever added to: others look into them
        std::vector<TensorId> of;       ///< their originals
        std::vector<int32_t> positions; ///< [tensor] in the graph's order; −1: no node
        struct Move {
            Step step;
            int32_t to;
        };
        std::unordered_map<TensorId, Move> moves; ///< of nodes that a backend put elsewhere
        Step moves_end = 0;                       ///< the records before it were looked at
    };
    Planned& planned(EvaluationId evaluation);
    const std::deque<std::string>& copies(EvaluationId evaluation, Planned& plan);
    const TensorInfo* info(EvaluationId evaluation, TensorId id);
    std::string_view backend(BackendId id);
    int32_t position(EvaluationId evaluation, Step step, TensorId id); ///< −1: no node
    /// The kernel that wrote it (null: none did), and has it a time?
    std::pair<const record::Execute*, bool> run_of(const PlanState& state, TensorId id);

    History& history_;
    std::unordered_map<EvaluationId, Planned> plans_; ///< by the evaluation that planned
    std::unordered_map<EvaluationId, EvaluationId> planned_in_;
    std::unordered_map<TensorId, std::pair<size_t, bool>> ran_; ///< index into the state's `executed` (true) or `untimed_`
    std::vector<record::Execute> untimed_;
    std::pair<EvaluationId, Step> ran_at_{-1, no_step};
    Planned outside_;                  ///< of records before the first evaluation
    std::deque<std::string> backends_; ///< a deque: others look into them
};

} // namespace schedscope::query
