#pragma once

#include "traces/store/record_source.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace schedscope {

/// One tensor at a step.
struct TensorState {
    BackendId backend = no_backend;
    std::optional<Cause> cause = Cause::none;
    int8_t source = -1;     ///< with 1.wgtN, 1.off
    Pass pass = Pass::none; ///< that made the last change
    TensorId by = no_tensor;
    int32_t split = -1;     ///< once pass 5 got there; −1 before
    Step changed = no_step; ///< step of the last assign record
};

/// One split at a step; open (end_node −1) until its end was recorded.
struct SplitState {
    record::SplitBegin begin;
    int32_t end_node = -1;
    std::vector<record::SplitInput> inputs;
    int32_t n_inputs_told = 0;               ///< once it ended; more than `inputs`: the others are not known
    std::optional<int64_t> start_ns, end_ns; ///< of its run in the evaluation shown; nothing: not run, or not timed
    Step ran = no_step;                      ///< step of that run's record
    KernelListId kernels = 0;                ///< that ran in it without a time of their own

    /// That it took.
    std::optional<int64_t> time_ns() const noexcept {
        return start_ns && end_ns && *end_ns >= *start_ns ? std::optional(*end_ns - *start_ns) : std::nullopt;
    }
    BackendId backend() const noexcept { return or_none(begin.backend); }
    TensorId node() const noexcept { return or_none(begin.node); }
    /// A log names a split's backend and inputs in one line; of one whose line is missing neither is known.
    std::optional<int32_t> n_inputs() const noexcept {
        return begin.backend ? std::optional(std::max(n_inputs_told, static_cast<int32_t>(inputs.size()))) : std::nullopt;
    }
    bool knows_all_inputs() const noexcept { return n_inputs() == static_cast<int32_t>(inputs.size()); }
    /// Of a split whose nodes are not known: 0, and so is its end.
    int32_t first_node() const noexcept { return begin.first_node.value_or(0); }

    void forget_run() noexcept {
        start_ns = end_ns = std::nullopt;
        ran = no_step;
        kernels = 0;
    }
};

/// A tensor that was watched, of the step's evaluation; its first elements and buckets follow in the records.
struct ValueState {
    Step step = no_step; ///< of its record
    record::Value value;
};

/// A node that another device computed once more to be compared, in the step's evaluation.
struct DifferenceState {
    Step step = no_step; ///< of its record
    record::Difference difference;
};

/// Everything known at a step about the plan that the step's evaluation runs. Ids: the graph's tensors, then copies.
struct PlanState {
    Step step = no_step;
    EvaluationId evaluation = 0, planned_in = 0;
    GraphId graph = -1;               ///< −1: nothing is planned yet
    Pass pass = Pass::none;           ///< that the step lies in
    bool planned = false;             ///< passes 1–5 are complete
    std::string error;                ///< of a plan that failed
    std::vector<TensorState> tensors; ///< [n_tensors + n_copies]
    std::vector<TensorId> order;      ///< nodes in the present order (optimise permutes)
    std::vector<SplitState> splits;
    std::vector<record::CopyMade> copies; ///< copy of id n_tensors + i is not always entry i: see `copy`
    std::vector<record::Rewired> rewires;
    std::vector<record::GraphInput> graph_inputs;
    std::vector<record::Fusion> fusions;
    std::vector<record::NotFused> not_fused;
    std::vector<record::Reorder> reorders;
    std::vector<record::Placement> placements;
    std::vector<record::PlanBackend> backends; ///< that the plan had to choose from; empty: the session's
    std::vector<record::Kept> kept;            ///< alive until a node is done
    std::vector<record::Verdict> verdicts;     ///< on another program's plan: one, or none
    std::vector<record::Reallocation> reallocations;
    std::vector<record::Execute> executed; ///< of the step's evaluation
    std::vector<record::Transfer> transfers;
    std::vector<record::Wait> waits;
    std::vector<record::Sample> samples;
    std::vector<record::NextToken> tokens;
    std::vector<ValueState> values;
    std::vector<DifferenceState> differences;
};

/// The only door for readers: what was known at each step, backward as cheap as forward. Live and recorded traces are the same to
/// it. Not thread-safe; each reader has its own.
class History {
public:
    explicit History(std::shared_ptr<const RecordSource> source);
    ~History();

    const RecordSource& source() const noexcept { return *source_; }
    const SessionInfo& session() const noexcept { return session_; }
    bool knows(Topic topic) const noexcept { return session_.knows.has(topic); }
    Step n_steps() const { return source_->n_steps(); }
    int n_evaluations() const { return source_->n_evaluations(); }

    /// State after the record `step` was written. Valid until the next call. Throws Error(usage) when out of range.
    const PlanState& state_at(Step step);
    Record record(Step step);
    EvaluationSpan evaluation(EvaluationId id) const { return source_->evaluation(id); }
    EvaluationId evaluation_of(Step step) const;

    /// Steps, in order, of the records that concern a tensor in an evaluation and in the plan that it runs.
    std::vector<Step> records_of(EvaluationId evaluation, TensorId tensor);
    /// The same without what backends were asked about it: in half the time.
    std::vector<Step> changes_of(EvaluationId evaluation, TensorId tensor);
    /// State at the end of an evaluation: its whole plan, and what ran. The one that state_at returned stays as it is.
    const PlanState& plan(EvaluationId evaluation);
    /// The whole plan that an evaluation runs, as the evaluation that made it left it: for questions about the plan alone,
    /// without what the evaluation itself ran.
    const PlanState& plan_run_by(EvaluationId evaluation);
    /// The last evaluation that made a plan; −1: none did.
    EvaluationId last_planned() const;
    /// The evaluation to begin with: the first prompt that was planned, else the last that made a plan; −1: none did.
    EvaluationId opening() const;

    /// The kernels of the state's splits that ran without a time of their own: start and end are 0.
    std::vector<record::Execute> untimed_kernels(const PlanState& state) const;

    /// Names. A copy is called BACKEND#tensor#stage; ids as in PlanState.
    const OwnedGraph* graph_of(const PlanState& state) const; ///< null: nothing planned
    std::string tensor_name(const PlanState& state, TensorId id) const;
    /// With its id where the graph has several of the name, as find_tensor takes it: "norm-0@412".
    std::string unique_name(const PlanState& state, TensorId id) const;
    /// Of a copy: its original's. Throws Error(usage): there is none.
    const TensorInfo& tensor(const PlanState& state, TensorId id) const;
    const TensorInfo* find_tensor(const PlanState& state, TensorId id) const; ///< the same; null: there is none
    std::string backend_name(BackendId id) const;                             ///< "-" for none
    std::string buffer_type_name(BufferTypeId id) const;                      ///< "-" for none
    /// A tensor's name in the plan that the record at `step` speaks of; states stay valid.
    std::string tensor_name_at(Step step, TensorId id);
    /// What it is there; null for a copy, and where there is none. Valid as long as the source.
    const TensorInfo* tensor_at(Step step, TensorId id);
    const TensorInfo* held_at(Step step, TensorId id); ///< of a copy there: what it is a copy of; null: no copy has this id

    /// What can be gone by. The moment of each is where it is over, so that all that it did is seen there; that of an evaluation
    /// is its beginning. A sweep is a pass as records name them; a pass is the same with the four sweeps of pass 2 as one; a
    /// split is over when it is planned, and when it ran.
    enum class Unit { record, sweep, pass, split, evaluation, token };
    /// Next or previous step, from `from` exclusive, that is a moment of this kind; no_step: none.
    Step next(Step from, Unit unit);
    Step previous(Step from, Unit unit);

private:
    struct Cache;
    void refresh_session(GraphId graph);
    std::string name_in(const OwnedGraph* graph, const std::vector<record::CopyMade>& copies, TensorId id) const;
    std::shared_ptr<const RecordSource> source_;
    SessionInfo session_;
    GraphId session_graph_ = -1; ///< the newest graph that session_ was fetched for
    /// The one that was asked for last: names are asked for by the thousand.
    mutable std::pair<GraphId, const OwnedGraph*> last_graph_{-1, nullptr};
    std::unique_ptr<Cache> cache_;
    /// Of the graph that unique_name was asked about last.
    struct RepeatedNames {
        GraphId graph = -1;
        std::vector<bool> repeated; ///< [tensor] another one has its name
    };
    mutable RepeatedNames repeated_names_;
};

/// Is a record the moment of a unit? A plan or an evaluation that fails ends the pass that it is in.
bool is_moment(History::Unit unit, const Record& record) noexcept;

/// "norm-0@412"
std::string with_id(std::string_view name, TensorId id);

} // namespace schedscope
