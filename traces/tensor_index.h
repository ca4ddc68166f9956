#pragma once

#include "traces/history.h"
#include "traces/record_cache.h"

#include <vector>

namespace schedscope {

/// In which records each tensor of an evaluation and its plan is spoken of: as the one decided on, copied, rewired, moved, fused, placed or run, or as
/// the original of a copy. A tensor that is only the cause of another's assignment is not. Keeps the last evaluation asked about.
class TensorIndex {
public:
    /// Steps in order. `planned_order`: the nodes in the order in which an earlier plan runs them, if the evaluation runs one.
    const std::vector<Step>& steps_of(RecordCache& records, const RecordSource& source, const EvaluationSpan& span,
                                      TensorId tensor, const PlanState* planned);

private:
    void scan(RecordCache& records, const RecordSource& source, Step first, Step end, bool plan_only);
    void add(const Record& record, const RecordSource& source);
    void note(TensorId id, Step step);
    void note_nodes(TensorId first, int32_t count, Step step);

    EvaluationId evaluation_ = -1;
    Step scanned_to_ = no_step;
    std::vector<std::vector<Step>> steps_; ///< by tensor
    std::vector<TensorId> order_;          ///< nodes as they run
    std::vector<int32_t> position_;        ///< by tensor, in order_; −1
    std::vector<Step> none_;
};

} // namespace schedscope
