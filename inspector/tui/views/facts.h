#pragma once

#include "inspector/query/query.h"
#include "traces/history/history.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace schedscope::tui {

using query::Facts;
using query::Field;
using query::Query;

/// The name of a node that a log leaves out.
constexpr const char* left_out_name = "(not in the log)";

/// Says in the query language's fields what tensors and records are. Names of copies are looked up once per plan and kept: the texts of facts live as
/// long as the describer.
class Describer {
public:
    explicit Describer(History& history) : history_(history) {}

    /// A tensor of a state, as the list of nodes shows it.
    void tensor(const PlanState& state, TensorId id, Facts& facts);
    void record(const Record& record, Facts& facts);

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
    };
    Planned& planned(EvaluationId evaluation);
    const std::deque<std::string>& copies(EvaluationId evaluation, Planned& plan);
    const TensorInfo* info(EvaluationId evaluation, TensorId id);
    std::string_view backend(BackendId id);

    History& history_;
    std::unordered_map<EvaluationId, Planned> plans_; ///< by the evaluation that planned
    std::unordered_map<EvaluationId, EvaluationId> planned_in_;
    Planned outside_;                  ///< of records before the first evaluation
    std::deque<std::string> backends_; ///< a deque: others look into them
};

} // namespace schedscope::tui
