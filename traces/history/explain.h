#pragma once

#include "traces/history/history.h"
#include "traces/history/words/story_kind.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

struct Asked {
    BackendId backend = no_backend;
    Question question = Question::op;
    std::string buffer_type; ///< with Question::buffer_type
    bool answer = true;
    std::string why; ///< of a no: "type: source 1 is not F32"
};

/// One change of a tensor's backend, or (after == before, cause none) a pass that looked at it and changed nothing.
struct StoryStep {
    Step step = no_step;
    std::optional<Pass> pass = Pass::none;
    std::optional<BackendId> before = no_backend, after = no_backend;
    std::optional<Cause> cause = Cause::none;
    int8_t source = -1;
    TensorId by = no_tensor; ///< the tensor that made it so
    std::vector<Asked> asked;
    std::string note; ///< pass 1 only, where none of its rules fits: what they looked at
};

/// What else is known of it: one line each, in order of step.
struct StoryLine {
    Step step = no_step;
    StoryKind kind;
    std::string text;
};

struct Story {
    TensorId tensor = no_tensor;
    std::string name;
    EvaluationId evaluation = 0, planned_in = 0;
    std::vector<StoryStep> steps;
    std::vector<StoryLine> lines;
};

/// The story of one tensor in one evaluation and the plan that it runs, from the records alone. Throws Error(usage) when the
/// tensor is not in the evaluation's graph.
Story explain(History& history, EvaluationId evaluation, TensorId tensor);

} // namespace schedscope
