#pragma once

#include "inspector/tui/background/background_task.h"
#include "traces/store/record_source.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// What would put a tensor elsewhere (traces/replay/levers.h), found in the background: each change that is tried is a plan made
/// again.
class LeverRun {
public:
    /// In words, once they are found; null: not yet. What is asked for another tensor stops what was asked before. `recorded`: of
    /// a plan that is recorded in part, how far; what is found holds until there is more.
    const std::vector<std::string>* of(const std::shared_ptr<const RecordSource>& source, EvaluationId evaluation,
                                       TensorId tensor, Step recorded);
    /// Readable when they are found.
    int descriptor() const noexcept { return task_.descriptor(); }
    /// After that. False: they were not wanted any longer.
    bool finish();

private:
    struct Wanted {
        std::shared_ptr<const RecordSource> source;
        EvaluationId evaluation = -1;
        TensorId tensor = no_tensor;
        Step recorded = no_step;
    };
    void start();

    Wanted wanted_;
    std::optional<std::vector<std::string>> found_; ///< of what is wanted
    BackgroundTask<std::vector<std::string>> task_;
};

} // namespace schedscope::tui
