#include "traces/history/unit.h"

namespace schedscope {

namespace {

/// Records of splits at work: those of its planning have no part in it, SplitBegin stands for them.
template <typename T>
constexpr bool split_at_work =
    std::is_same_v<T, record::SplitBegin> || std::is_same_v<T, record::Transfer> || std::is_same_v<T, record::Execute> ||
    std::is_same_v<T, record::SplitRun> || std::is_same_v<T, record::Wait>;

bool is_sweep_of_pass_2(Pass pass) noexcept { return pass == Pass::gpu_up || pass == Pass::rest_down || pass == Pass::rest_up; }

} // namespace

TensorId unit_node(const Record& record) noexcept {
    if (const auto* input = std::get_if<record::SplitInput>(&record.fact)) {
        return input->node;
    }
    return std::holds_alternative<record::CopyMade>(record.fact) ? no_tensor : subject(record.fact);
}

int32_t unit_split(const Record& record) noexcept {
    return std::visit(
        []<typename T>(const T& fact) -> int32_t {
            if constexpr (std::is_same_v<T, record::SplitBegin>) {
                return fact.index;
            } else if constexpr (split_at_work<T>) {
                return fact.split;
            } else {
                return -1;
            }
        },
        record.fact);
}

bool clears_context(const Record& record) noexcept {
    return std::holds_alternative<record::PassBegin>(record.fact) || std::holds_alternative<record::PlanBegin>(record.fact) ||
           std::holds_alternative<record::EvaluationBegin>(record.fact);
}

bool begins(History::Unit unit, const UnitContext& before, const Record& record) noexcept {
    switch (unit) {
    case History::Unit::record: return true;
    case History::Unit::sweep: return std::holds_alternative<record::PassBegin>(record.fact);
    case History::Unit::pass: {
        const auto* begin = std::get_if<record::PassBegin>(&record.fact);
        return begin != nullptr && !is_sweep_of_pass_2(begin->pass);
    }
    case History::Unit::split: {
        const int32_t split = unit_split(record);
        return split >= 0 && (split != before.split || std::holds_alternative<record::SplitBegin>(record.fact));
    }
    case History::Unit::node: {
        const TensorId node = unit_node(record);
        return node != no_tensor && node != before.node;
    }
    case History::Unit::evaluation: return std::holds_alternative<record::EvaluationBegin>(record.fact);
    case History::Unit::token: return std::holds_alternative<record::NextToken>(record.fact);
    }
    return false;
}

void advance(UnitContext& context, const Record& record) noexcept {
    if (clears_context(record)) {
        context = {};
        return;
    }
    if (const TensorId node = unit_node(record); node != no_tensor) {
        context.node = node;
    }
    if (const int32_t split = unit_split(record); split >= 0) {
        context.split = split;
    }
}

} // namespace schedscope
