#pragma once

#include "traces/history/fold.h"
#include "traces/history/history.h"
#include "traces/history/tensor_index.h"
#include "traces/store/record_cache.h"

#include <map>
#include <memory>

namespace schedscope {

/// What History keeps so that no question costs more than some thousand records: chunks of records, states at chosen steps, plans
/// that later evaluations run again, and who is spoken of where. All of it is bounded.
struct History::Cache {
    explicit Cache(const RecordSource& s) : source(s), records(s), folded(s, {2048, 128}, {folded_facts}) {}

    /// The state after `step`, which lies in `span`.
    const PlanState& state_at(Step step, const EvaluationSpan& span);
    /// The evaluation whose plan this one runs, where that is an earlier one that made it.
    std::optional<EvaluationSpan> earlier_plan(const EvaluationSpan& span) const;
    /// The finished plan that other evaluations run; null when that evaluation made none of its own.
    const PlanState* plan_of(EvaluationId planned);
    /// The state at the end of an evaluation, which may still be running; kept apart from the cursor, which stays where it is.
    const PlanState& end_of(const EvaluationSpan& span);

    const RecordSource& source;
    RecordCache records; ///< all kinds
    RecordCache folded;  ///< those that states are made from
    PlanState cursor;
    TensorIndex index{every_fact & ~fact_bit<record::BackendQuery>()};
    TensorIndex queries{fact_bit<record::BackendQuery>()}; ///< as many as all others; few want them

    /// Graph and copies, for names: of the plan that the record at `step` speaks of.
    struct Names {
        Step plan_begin = no_step, scanned = no_step; ///< records from plan_begin up to scanned are known
        GraphId graph = -1;
        bool complete = false; ///< its PlanEnd was seen: no more copies will come
        std::vector<record::CopyMade> copies;
    };
    const Names& names_at(Step step, const EvaluationSpan& span);

private:
    static constexpr size_t keyframe_budget = size_t{40} << 20; ///< bytes
    static constexpr size_t max_plans = 4, max_names = 64;

    static constexpr Step keyframe_spacing = 16384; ///< folding so many costs about as much as copying a state
    static constexpr Step stride_back = 512;        ///< folding so many costs little beside it

    void keep_keyframe(Step target);
    void fold_to(PlanState& state, Step next, Step last, bool keep);
    bool unfold_to(Step step);

    std::map<Step, std::unique_ptr<PlanState>> keyframes_;
    size_t keyframe_bytes_ = 0;
    std::map<EvaluationId, std::unique_ptr<PlanState>> plans_;
    PlanState end_;               ///< of the last evaluation that end_of was asked for
    std::map<Step, Names> names_; ///< by plan_begin
    Names nothing_;
};

} // namespace schedscope
