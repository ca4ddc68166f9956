#include "tests/support/traces/plan_rows.h"

#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::test {

namespace {

std::string text(const History& history, StringId id) { return std::string(history.source().text(id)); }

} // namespace

std::vector<AssignmentRow> assignment_rows(History& history, const PlanState& state) {
    std::vector<AssignmentRow> rows;
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        return rows;
    }
    const auto op = [](const TensorInfo& info) { return std::string(info.op ? op_name(info) : unknown_text); };
    const auto add = [&](TensorId id) {
        const TensorInfo& info = history.tensor(state, id);
        const TensorState& t = state.tensors[id];
        AssignmentRow row{id,        history.tensor_name(state, id), op(info),     type_text(info),    info.ne,
                          t.backend, cause_text(t.cause, t.source),  std::nullopt, operator_text(info)};
        if (!is_index(id, graph->tensors)) {
            row.op = row.operation = op_name(Op::NONE); // a copy is made by no operator
        }
        if (t.split >= 0) {
            row.split = t.split;
        }
        rows.push_back(std::move(row));
    };
    for (size_t i = 0; i < graph->tensors.size(); ++i) {
        if (!is_left_out(graph->tensors[i])) {
            add(int_of(i));
        }
    }
    for (const record::CopyMade& copy : state.copies) {
        add(copy.copy);
    }
    return rows;
}

std::vector<SplitRow> split_rows(History& history, const PlanState& state) {
    std::vector<SplitRow> rows;
    for (const SplitState& split : state.splits) {
        SplitRow row;
        row.index = split.begin.index;
        row.backend = split.backend();
        row.first_node = split.first_node();
        row.last_node = (split.end_node < 0 ? split.first_node() : split.end_node) - 1;
        row.why = split.begin.why;
        row.nodes_known = split.begin.first_node.has_value();
        row.node = split.node();
        row.node_name = history.tensor_name(state, row.node);
        row.by = history.tensor_name(state, or_none(split.begin.by));
        for (const record::SplitInput& input : split.inputs) {
            row.inputs.push_back({input.tensor, history.tensor_name(state, input.tensor), or_none(input.from), input.bytes});
        }
        row.time_ns = split.time_ns();
        rows.push_back(std::move(row));
    }
    return rows;
}

FusionRows fusion_rows(History& history, const PlanState& state) {
    FusionRows table;
    for (const record::Fusion& f : state.fusions) {
        FusionRow row{f.backend, text(history, f.kernel), f.split, {}};
        for (int32_t i = f.first; i < f.first + f.count && is_index(i, state.order); ++i) {
            row.nodes.push_back(history.tensor_name(state, state.order[i]));
        }
        table.fusion.push_back(std::move(row));
    }
    for (const SplitState& split : state.splits) {
        ReorderRow row{split.begin.index, {}};
        for (int32_t i = split.first_node(); i < split.end_node; ++i) {
            row.order.push_back(i);
        }
        bool moved = false;
        for (const record::Reorder& f : state.reorders) {
            const int64_t at = int64_t{f.to} - split.first_node();
            if (f.split == split.begin.index && at >= 0 && at < std::ssize(row.order)) {
                row.order[at] = f.from;
                moved = true;
            }
        }
        if (moved) {
            table.reorders.push_back(std::move(row));
        }
    }
    for (const record::NotFused& f : state.not_fused) {
        table.not_fused.push_back(
            {f.backend, {history.tensor_name(state, f.first), history.tensor_name(state, f.second)}, text(history, f.why)});
    }
    return table;
}

std::vector<KernelRow> kernel_rows(History& history, const PlanState& state) {
    std::vector<KernelRow> rows;
    const auto add = [&](const record::Execute& f, bool timed) {
        rows.push_back({f.last, history.tensor_name(state, f.last), f.split, f.count, f.backend, text(history, f.kernel),
                        f.start_ns, f.end_ns, f.bytes, f.flops, f.device_time, timed});
    };
    for (const record::Execute& f : state.executed) {
        add(f, true);
    }
    for (const record::Execute& f : history.untimed_kernels(state)) {
        add(f, false);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.split < b.split; });
    return rows;
}

std::vector<ReuseRow> reuse_rows(History& history) {
    std::vector<ReuseRow> rows;
    for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
        const record::EvaluationBegin begin = history.evaluation(id).begin;
        ReuseRow row{id, begin.kind, begin.reused, std::nullopt};
        if (begin.failed_check != 0) {
            row.failed = text(history, begin.failed_check);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace schedscope::test
