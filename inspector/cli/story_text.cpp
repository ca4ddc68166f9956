#include "inspector/cli/story_text.h"

#include "traces/unknown.h"

#include <iomanip>
#include <ostream>

namespace schedscope {

namespace {

std::string question_text(const Asked& a) {
    switch (a.question) {
    case Question::op: return "runs this operator?";
    case Question::buffer_type: return "can use " + a.buffer_type + " memory?";
    case Question::offload: return "wants to take it over?";
    }
    return {};
}

/// Where a tensor lies that had its memory before planning: weights are given to a backend that can read them, not always the one that owns them.
std::string memory_text(const History& history, const PlanState& state, TensorId id) {
    const TensorInfo& tensor = history.tensor(state, id);
    if (tensor.buffer_type == no_buffer_type) {
        return "";
    }
    return ", in " + history.buffer_type_name(tensor.buffer_type) +
           (tensor.usage == BufferUsage::weights ? " memory, a weight" : " memory");
}

} // namespace

void print_story(const History& history, const PlanState& state, const Story& story, std::ostream& out) {
    const TensorInfo& tensor = history.tensor(state, story.tensor);
    out << story.name << "  " << operator_text(tensor) << "  " << type_text(tensor) << ' ' << shape_text(tensor)
        << "  (evaluation " << story.evaluation;
    if (story.planned_in != story.evaluation) {
        out << ", planned in " << story.planned_in;
    }
    out << ")\n";
    for (size_t i = 0; i < tensor.src.size(); ++i) {
        if (tensor.src[i] != no_tensor) {
            out << "  source " << i << "  " << history.tensor_name(state, tensor.src[i]) << "  on "
                << history.backend_name(state.tensors[static_cast<size_t>(tensor.src[i])].backend)
                << memory_text(history, state, tensor.src[i]) << '\n';
        }
    }
    for (const StoryStep& s : story.steps) {
        out << "pass " << std::left << std::setw(3) << (s.pass == Pass::none ? std::string_view(unknown_text) : pass_name(s.pass))
            << std::setw(11) << pass_title(s.pass);
        if (!s.note.empty()) {
            out << "leaves it unassigned: " << s.note;
        } else if (s.cause == Cause::none && told_by_log(tensor)) {
            out << "on " << history.backend_name(s.after) << ", by a rule that the log does not tell";
        } else if (s.after == no_backend && told_by_log(tensor)) {
            out << "by " << cause_name(s.cause, s.source) << ": " << cause_meaning(s.cause) << "; on which backend is not known";
        } else if (s.cause == Cause::none) {
            out << "unchanged, " << (s.after == no_backend ? "unassigned" : "on " + history.backend_name(s.after));
        } else {
            out << (s.after == no_backend ? "still unassigned" : history.backend_name(s.after)) << " by "
                << cause_name(s.cause, s.source);
            if (!s.by.empty()) {
                out << " (" << s.by << ')';
            }
            out << ": " << cause_meaning(s.cause);
            if (s.before != no_backend && s.before != s.after) {
                out << ", before: " << history.backend_name(s.before);
            }
        }
        out << "  [step " << s.step << "]\n";
        for (const Asked& a : s.asked) {
            out << "      " << history.backend_name(a.backend) << ' ' << question_text(a) << ' '
                << (a.answer        ? "yes"
                    : a.why.empty() ? "no"
                                    : "no: " + a.why)
                << '\n';
        }
    }
    for (const StoryLine& l : story.lines) {
        out << std::left << std::setw(13) << l.what << "  " << l.text << "  [step " << l.step << "]\n";
    }
}

} // namespace schedscope
