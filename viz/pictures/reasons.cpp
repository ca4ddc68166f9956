#include "viz/pictures/reasons.h"

#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/subject.h"

namespace schedscope {

namespace {
std::string rule_of(const TensorState& tensor) { return tensor.cause ? cause_name(*tensor.cause, tensor.source) : ""; }
} // namespace

std::string cause_text(const Subject& subject, TensorId tensor) {
    const TensorState& now = subject.state.tensors[tensor];
    if (now.backend == no_backend) {
        const std::string mark = rule_of(now), nowhere = subject.backend_name(no_backend);
        return mark.empty() ? nowhere : nowhere + (subject.all_assigned_known() ? ", marked " : ", by ") + mark;
    }
    std::string text = subject.palette[now.backend].letter + " " + subject.backend_name(now.backend);
    if (const std::string cause = rule_of(now); !cause.empty()) {
        text += " by " + cause;
        if (now.by != no_tensor && now.by < subject.n_ids()) {
            text += " (" + clipped(subject.name(now.by), 40) + ")";
        }
    }
    if (const BackendId was = subject.changed.before(tensor).value_or(no_backend); was != no_backend && was != now.backend) {
        text += ", was " + subject.palette[was].letter + " " + subject.backend_name(was);
    }
    return text;
}

std::string why_split_starts(const Subject& subject, const SplitState& split) {
    const record::SplitBegin& begin = split.begin;
    std::string where;
    if (const TensorId node = split.node(); node != no_tensor) {
        where = subject.name(node) + " (" + operator_text(subject.info(node)) + ")";
    }
    return words::split_begins(begin, where, or_none(begin.by) != no_tensor ? subject.name(*begin.by) : "a source");
}

} // namespace schedscope
