#include "traces/history/words/unknown.h"

#include "runtime/error.h"
#include "runtime/ops/params.h"

namespace schedscope {

bool told_by_log(const TensorInfo& tensor) noexcept { return tensor.ne == Shape{0, 0, 0, 0}; }

bool left_out_by_log(const TensorInfo& tensor) noexcept {
    return told_by_log(tensor) && tensor.name.empty() && tensor.op == Op::NONE;
}

void refuse_logged(const OwnedGraph& graph, const CapabilityTable& answers) {
    if (answers.n_tensors == 0 && !graph.tensors.empty() && told_by_log(graph.tensors.front())) {
        throw Error(ErrorKind::input, cannot_plan_again);
    }
}

bool is_imported(const History& history, const PlanState& state) {
    return state.planned_in >= 0 && state.planned_in < history.n_evaluations() &&
           history.evaluation(state.planned_in).begin.kind == GraphKind::imported;
}

bool is_imported(const History& history) {
    return history.n_evaluations() > 0 && history.evaluation(0).begin.kind == GraphKind::imported;
}

KnownCounts known_counts(const record::EvaluationBegin& begin) noexcept {
    const auto known = [&](int32_t n) { return begin.kind == GraphKind::imported && n == 0 ? std::nullopt : std::optional(n); };
    return {known(begin.n_tokens), known(begin.n_sequences), known(begin.n_outputs)};
}

std::string_view operator_name(const TensorInfo& tensor) noexcept {
    if (told_by_log(tensor) && tensor.op == Op::NONE) {
        return unknown_text;
    }
    // Older logs tell UNARY and GLU, but not which.
    return told_by_log(tensor) && tensor.params[0] < 0 ? op_name(tensor.op) : op_description(tensor.op, tensor.params);
}

std::string operator_text(const TensorInfo& tensor) { return std::string(operator_name(tensor)); }

std::string type_text(const TensorInfo& tensor) {
    return told_by_log(tensor) ? unknown_text : std::string(type_name(tensor.type));
}

std::string shape_text(const TensorInfo& tensor) { return told_by_log(tensor) ? unknown_text : shape_text(tensor.ne); }

bool reason_known(const record::SplitBegin& split) noexcept {
    return split.by != no_tensor || split.why == SplitReason::first || split.why == SplitReason::backend;
}

std::string reason_text(const record::SplitBegin& split) {
    return reason_known(split) ? std::string(split_reason_name(split.why)) : unknown_text;
}

} // namespace schedscope
