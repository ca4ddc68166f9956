#pragma once

#include "traces/diff/align.h"
#include "traces/diff/diff.h"
#include "traces/diff/same_devices.h"

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

/// What diff.cpp puts together: one comparison a file.
namespace schedscope::diff {

/// Collects what a comparison of two evaluations finds.
class Found {
public:
    Found(Result& result, EvaluationId a, EvaluationId b) : result_(result), a_(a), b_(b) {}

    TraceDifference& add(What what, std::string subject, DiffValue a, DiffValue b);
    /// So many decisions were looked at.
    void compared(int64_t n = 1) noexcept { result_.decisions += n; }

private:
    Result& result_;
    EvaluationId a_, b_;
};

/// Of what one side does not know nothing can be said. Of optionals.
template <typename T> bool differ_as_known(const T& a, const T& b) { return a && b && *a != *b; }

/// One trace's side of a comparison.
struct PlanSide {
    History& history;
    const PlanState& state;
    const OwnedGraph& graph;
    const SameDevices& devices;     ///< as a calls them
    bool is_least_of_alike = false; ///< filled in from a log that prints the other's sizes as it prints these (sizes_tell)

    std::string name(TensorId id) const { return history.tensor_name(state, id); } ///< "-" for none
    std::string backend(BackendId id) const { return devices.backend(history.backend_name(id)); }
    std::string buffer_type(BufferTypeId id) const { return devices.buffer_type(history.buffer_type_name(id)); }
    std::string text(StringId id) const { return std::string(history.source().text(id)); }
    /// A log of level 1 shows a plan's splits alone.
    bool knows_nodes() const noexcept { return !graph.nodes.empty(); }
    /// Else the tensor may be on a backend that is not recorded.
    bool knows_where(const TensorState& t) const noexcept { return t.backend != no_backend || history.knows(Topic::passes); }
    /// May a tensor be larger than its recorded size, within what a log prints as the same? Unless a model says how large it is,
    /// for one number of tokens alone.
    bool rounds_down(TensorId id) const;
    /// It is as a log lists it, and no model filled it in: neither views nor leafs are nodes or leafs there.
    bool is_list_of_log() const;
    /// Rules stand with the tensors. Of a log: that of a view tells it from what it is a view of.
    bool has_causes() const;
    /// As far as the plan came.
    TensorState assigned(TensorId id) const;
    /// The node that a split is known by.
    TensorId start_of(const SplitState& split) const;
};

/// A plan of each trace for one pair of evaluations. Ids: the graph's tensors, then copies.
class PlanPair {
    const SameDevices same_in_a_, same_in_b_; ///< in front of what refers to them

public:
    PlanPair(History& history_a, const PlanState& a, History& history_b, const PlanState& b);

    PlanSide a, b;

    /// The tensor of b that a tensor of a is, or the other way round; none: only one has it.
    TensorId in_b(TensorId id) const noexcept;
    TensorId in_a(TensorId id) const noexcept;
    bool same(TensorId of_a, TensorId of_b) const noexcept;
    /// Does another size of a tensor that both have say that they differ? A log rounds sizes, so that a model fills it in for the
    /// least of several numbers of tokens. Where it prints all of the other graph as it prints its own, the other's number may be
    /// its own.
    bool sizes_tell() const noexcept { return !a.is_least_of_alike && !b.is_least_of_alike; }
    /// What one trace says of it can't be compared with the other's silence.
    bool one_alone_knows(Topic topic) const noexcept { return a.history.knows(topic) != b.history.knows(topic); }
    bool both_know(Topic topic) const noexcept { return a.history.knows(topic) && b.history.knows(topic); }
    /// Tensors of the two graphs that are one, in a's order.
    const std::vector<std::pair<TensorId, TensorId>>& common() const noexcept { return common_; }

    /// A difference about a tensor that both have, or (none for the other) only one.
    TraceDifference& add(Found& found, What what, TensorId of_a, TensorId of_b, DiffValue value_a, DiffValue value_b) const;

private:
    /// Of graphs whose common tensors are not all of one size.
    bool are_logged_alike() const;
    /// Copies are the same when what they are copies of is, and they are for the same stage of the same backend.
    void pair_copies();

    Alignment alignment_;
    std::vector<std::pair<TensorId, TensorId>> common_;
    std::map<TensorId, TensorId> copies_in_b_, copies_in_a_;
};

void compare_graphs(const PlanPair& plans, Found& found);
void compare_assignments(const PlanPair& plans, Found& found);
void compare_splits(const PlanPair& plans, Found& found);
/// Where one trace knows the splits alone.
void compare_splits_in_order(const PlanPair& plans, Found& found);
void compare_copies(const PlanPair& plans, Found& found);
void compare_fusion(const PlanPair& plans, Found& found);
void compare_order(const PlanPair& plans, Found& found);
void compare_memory(const PlanPair& plans, Found& found);
/// Of the evaluations whose states these are.
void compare_verdicts(const PlanPair& plans, Found& found);

/// How long splits took: those that begin at the same node together, then those that only b has.
void add_split_times(const PlanPair& plans, Result& result);
DiffSummary summarise(const PlanPair& plans);

using EvaluationPair = std::pair<EvaluationId, EvaluationId>;
/// What both are for; where a does not say it, what b says.
std::optional<GraphKind> kind_of(const History& a, const History& b, const EvaluationPair& evaluations);
/// The tokens that went into a pair of evaluations. `number_tells`: may how many they were differ (PlanPair::sizes_tell)? It is
/// asked only where they do.
void compare_prompts(History& a, History& b, const EvaluationPair& evaluations, const std::function<bool()>& number_tells,
                     Found& found);
/// The tokens that came out, where both traces know them; `chosen`: of this pair of evaluations only.
void compare_tokens(History& a, History& b, const std::optional<EvaluationPair>& chosen, Result& result);
/// Totals over these pairs; adds the time per token to the summaries.
void add_times(History& a, History& b, const std::vector<EvaluationPair>& evaluations, Result& result);

} // namespace schedscope::diff
