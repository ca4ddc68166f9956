#include "traces/history/words/story_words.h"

#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

namespace schedscope::words {

namespace {

/// Where a tensor lies that had its memory before planning: weights are given to a backend that can read them, not always the one
/// that owns them.
std::string memory_text(const History& history, const PlanState& state, TensorId id) {
    const TensorInfo& tensor = history.tensor(state, id);
    const std::string in =
        tensor.buffer_type == no_buffer_type ? "" : ", in " + history.buffer_type_name(tensor.buffer_type) + " memory";
    return in + (tensor.usage == BufferUsage::weights ? ", a weight" : "");
}

} // namespace

std::string story_head(const History& history, const PlanState& state, const Story& story) {
    const TensorInfo& tensor = history.tensor(state, story.tensor);
    std::string text = history.unique_name(state, story.tensor) + (tensor.op ? "  " + operator_text(tensor) : "");
    text += tensor.type || tensor.ne ? "  " + type_text(tensor) + " " + shape_text(tensor) : "";
    text += "  (evaluation " + std::to_string(story.evaluation);
    if (story.planned_in != story.evaluation) {
        text += ", planned in " + std::to_string(story.planned_in);
    }
    return text + ")";
}

std::vector<std::string> story_sources(const History& history, const PlanState& state, const Story& story) {
    const TensorInfo& tensor = history.tensor(state, story.tensor);
    std::vector<std::string> lines;
    for (size_t i = 0; i < tensor.src.size(); ++i) {
        if (tensor.src[i] != no_tensor) {
            const BackendId backend = state.tensors[tensor.src[i]].backend;
            const bool known = backend != no_backend || history.knows(Topic::passes);
            lines.push_back("source " + std::to_string(i) + "  " + history.unique_name(state, tensor.src[i]) +
                            (backend != no_backend ? "  on " + history.backend_name(backend)
                             : known               ? "  unassigned at this step"
                                                   : "") +
                            memory_text(history, state, tensor.src[i]));
        }
    }
    return lines;
}

std::string decided(const History& history, const PlanState& state, const StoryStep& step) {
    if (!step.note.empty()) {
        return "leaves it unassigned: " + step.note;
    }
    const BackendId after = or_none(step.after);
    if (!step.cause) {
        return "on " + history.backend_name(after) + ", by a rule that is not known";
    }
    const Cause cause = *step.cause;
    if (!step.after) {
        return "by " + cause_name(cause, step.source) + ": " + std::string(cause_meaning(cause)) +
               "; on which backend is not known";
    }
    if (cause == Cause::none) {
        return "unchanged, " + (after == no_backend ? "unassigned" : "on " + history.backend_name(after));
    }
    std::string text =
        (after == no_backend ? "still unassigned" : history.backend_name(after)) + " by " + cause_name(cause, step.source);
    if (step.by != no_tensor) {
        text += " (" + history.unique_name(state, step.by) + ")";
    }
    text += ": " + std::string(cause_meaning(cause));
    if (or_none(step.before) != no_backend && step.before != step.after) {
        text += ", before: " + history.backend_name(*step.before);
    }
    return text;
}

std::string answered(const History& history, const Asked& asked) {
    return history.backend_name(asked.backend) + " " + words::asked(asked.question, asked.buffer_type, asked.answer, asked.why);
}

} // namespace schedscope::words
