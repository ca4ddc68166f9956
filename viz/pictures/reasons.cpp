#include "viz/pictures/reasons.h"

#include "traces/history/words/unknown.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/subject.h"

namespace schedscope {

std::string cause_text(const Subject& subject, TensorId tensor) {
    const TensorState& now = subject.state.tensors[tensor];
    if (now.backend == no_backend) {
        const std::string mark = cause_name(now.cause, now.source), nowhere = subject.backend_name(no_backend);
        return mark.empty() ? nowhere : nowhere + (subject.from_log ? ", by " : ", marked ") + mark;
    }
    std::string text = subject.palette[now.backend].letter + " " + subject.backend_name(now.backend);
    if (const std::string cause = cause_name(now.cause, now.source); !cause.empty()) {
        text += " by " + cause;
        if (now.by != no_tensor && now.by < subject.n_ids()) {
            text += " (" + clipped(subject.name(now.by), 40) + ")";
        }
    }
    return text;
}

std::string why_split_starts(const Subject& subject, const SplitState& split) {
    const record::SplitBegin& begin = split.begin;
    std::string where;
    if (begin.node != no_tensor) {
        where = subject.name(begin.node) + " (" + operator_text(subject.info(begin.node)) + ")";
    }
    const std::string by = begin.by != no_tensor ? subject.name(begin.by) : "a source";
    if (begin.backend == no_backend) {
        return "not in the log";
    }
    if (!reason_known(begin)) {
        return "why it begins is not known";
    }
    switch (begin.why) {
    case SplitReason::first: return "first split";
    case SplitReason::backend: return where.empty() ? "backend changes" : "backend changes at " + where;
    case SplitReason::weight: return where + " needs weight " + by + " of another backend";
    case SplitReason::full: return "inputs are full: " + where + " needs " + by + " too";
    }
    return "";
}

} // namespace schedscope
