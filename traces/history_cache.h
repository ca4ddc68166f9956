#pragma once

#include "traces/history.h"
#include "traces/record_cache.h"
#include "traces/tensor_index.h"

#include <map>
#include <memory>

namespace schedscope {

/// What History keeps so that no question costs more than some thousand records: chunks of records, states at regular steps, plans that later evaluations
/// run again, and who is spoken of where.
struct History::Cache {
    explicit Cache(const RecordSource& s) : source(s), records(s) {}

    /// The state after `step`, which lies in `span`.
    const PlanState& state_at(Step step, const EvaluationSpan& span);
    /// The finished plan that other evaluations run; null when that evaluation made none of its own.
    const PlanState* plan_of(EvaluationId planned);

    const RecordSource& source;
    RecordCache records;
    PlanState cursor;
    TensorIndex index;

    /// Graph and copies, for names: of the plan that the record at `step` speaks of.
    struct Names {
        Step plan_begin = no_step, scanned = no_step; ///< records from plan_begin up to scanned are known
        GraphId graph = -1;
        bool complete = false; ///< its PlanEnd was seen: no more copies will come
        std::vector<record::CopyMade> copies;
    };
    const Names& names_at(Step step, const EvaluationSpan& span);

private:
    static constexpr size_t keyframe_budget = size_t{96} << 20; ///< bytes
    static constexpr size_t max_plans = 8, max_names = 64;

    Step spacing() const noexcept;
    void keep_keyframe(Step target);
    void fold_to(PlanState& state, Step next, Step last, bool keep);

    std::map<Step, std::unique_ptr<PlanState>> keyframes_;
    size_t keyframe_bytes_ = 0;
    std::map<EvaluationId, std::unique_ptr<PlanState>> plans_;
    std::map<Step, Names> names_; ///< by plan_begin
    Names nothing_;
};

} // namespace schedscope
