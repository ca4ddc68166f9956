#pragma once

#include "inspector/tui/state/inspector_session.h"

#include <map>
#include <vector>

namespace schedscope::tui {

/// How often copies were moved since their plan was made. Looks at each transfer of the trace once, those after the present step not yet.
class TransferCount {
public:
    struct Sum {
        int64_t times = 0, bytes = 0, time = 0; ///< nanoseconds
    };
    /// Up to the session's step. Looks further where it must.
    void update(InspectorSession& session);
    /// Of a copy in the plan that the session's step runs; up to that step.
    Sum of(const InspectorSession& session, TensorId copy) const;

private:
    struct Moved {
        Step step;
        Sum until; ///< with all before it
    };
    Step counted_ = no_step;                                                ///< those up to here are counted
    std::map<std::pair<EvaluationId, TensorId>, std::vector<Moved>> moved_; ///< by plan and copy, in order of steps
};

} // namespace schedscope::tui
