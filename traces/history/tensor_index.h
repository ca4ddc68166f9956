#pragma once

#include "traces/history/history.h"

#include <list>
#include <vector>

namespace schedscope {

/// In which records each tensor of an evaluation and its plan is spoken of: as the one decided on, copied, rewired, moved, fused,
/// placed or run, or as the original of a copy. A tensor that is only the cause of another's assignment is not. Looks at the
/// records of an evaluation once, and keeps what it found for the evaluations that were asked about last.
class TensorIndex {
public:
    /// kinds: the records that it looks at.
    explicit TensorIndex(FactSet kinds) : wanted_{kinds | fact_bit<record::PlanBegin>(), true} {}

    /// Steps in order. `planned`: the evaluation whose plan this one runs, where that is an earlier one.
    std::vector<Step> steps_of(const RecordSource& source, const EvaluationSpan& span, TensorId tensor,
                               const EvaluationSpan* planned);

private:
    /// What the records of one evaluation say of each tensor: a chain of steps for each, the newest first.
    struct Mentions {
        struct Link {
            Step step;
            int32_t before; ///< index into `links`, −1: this is the first one
            bool run;       ///< of the plan's run: it belongs to the evaluation it was written in, not to the plan
        };
        EvaluationId evaluation = -1;
        Step scanned_to = 0;
        bool plans = false;          ///< it makes a plan of its own
        std::vector<int32_t> newest; ///< by tensor, index into `links`; −1
        std::vector<Link> links;
        std::vector<TensorId> order;   ///< nodes as they run
        std::vector<int32_t> position; ///< by tensor, in `order`; −1

        void note(TensorId id, Step step, bool run);
    };
    /// Notes the records of an evaluation; places are those of `plan` until one makes a plan of its own.
    struct Scan;

    Mentions& mentions_of(const RecordSource& source, const EvaluationSpan& span, const Mentions* plan);

    static constexpr size_t most_links = size_t{1} << 19; ///< of all that is kept; 16 bytes each
    Wanted wanted_;
    std::list<Mentions> kept_; ///< the last one asked about first
};

} // namespace schedscope
