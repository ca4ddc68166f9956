#include "traces/history/words/unknown.h"

#include "runtime/error.h"
#include "runtime/ops/params.h"
#include "runtime/system/visible_text.h"

#include <algorithm>

namespace schedscope {

std::string nothing_ran(const SessionInfo& session, std::string_view so_far) {
    return session_fact(session, dry_run_fact).empty() ? std::string(so_far) : "a dry run plans, and runs nothing";
}

std::string unknown_for_lack_of(Topic topic, std::string_view what) {
    return std::string(what) + " is unknown: this trace has no " + std::string(topic_words(topic));
}

bool is_left_out(const TensorInfo& tensor) noexcept { return tensor.name.empty() && !tensor.op; }

std::string not_plannable_for_lack_of(Topic topic) {
    return "nothing can be planned again: this trace has no " + std::string(topic_words(topic)) +
           (topic == Topic::answers ? ", as logs have none; `schedscope record -- PROGRAM` asks them for each graph" : "");
}

void require_plannable(const SessionInfo& session, const OwnedGraph& graph, const CapabilityTable& answers) {
    const auto refuse = [](Topic topic) { throw Error(ErrorKind::input, not_plannable_for_lack_of(topic)); };
    if (!session.knows.has(Topic::answers) || (answers.n_tensors == 0 && !graph.tensors.empty())) {
        refuse(Topic::answers);
    }
    if (!session.knows.has(Topic::shapes)) {
        refuse(Topic::shapes);
    }
    for (const TensorInfo& t : graph.tensors) {
        // No rule asks for strides; where the type is the program's own, they alone would say how many bytes there are.
        const bool own_type = t.foreign != nullptr && !t.foreign->type.empty();
        const char* const missing = !t.op || !t.params   ? "operator"
                                    : !t.type            ? "type"
                                    : !t.ne              ? "shape"
                                    : !t.nb && !own_type ? "layout"
                                                         : nullptr;
        if (missing != nullptr) {
            throw Error(ErrorKind::input, "nothing can be planned again: of tensor '" + visible_name(t.name) + "' the " +
                                              missing + " is not known");
        }
    }
}

std::string_view operator_name(const TensorInfo& tensor) noexcept {
    const std::string_view name = op_description(tensor);
    return name.empty() ? unknown_text : name;
}

std::string operator_text(const TensorInfo& tensor) { return std::string(operator_name(tensor)); }

std::string type_text(const TensorInfo& tensor) { return std::string(tensor.type ? type_name(tensor) : unknown_text); }

std::string shape_text(const TensorInfo& tensor) { return tensor.ne ? shape_text(*tensor.ne) : unknown_text; }

std::string_view kind_text(std::optional<GraphKind> kind) noexcept { return kind ? graph_kind_name(*kind) : unknown_text; }

std::string_view reason_text(std::optional<SplitReason> why) noexcept { return why ? split_reason_name(*why) : unknown_text; }

std::string cause_text(std::optional<Cause> cause, int source) { return cause ? cause_name(*cause, source) : unknown_text; }

} // namespace schedscope
