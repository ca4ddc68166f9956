// Tables of a plan: assignments, splits, copies.

#include "runtime/numbers.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::tables {

std::vector<AssignmentRow> assignments(History& history, const PlanState& state) {
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

std::vector<SplitRow> splits(History& history, const PlanState& state) {
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

std::vector<CopyRow> copies(History& history, const PlanState& state) {
    std::vector<CopyRow> rows;
    std::unordered_map<TensorId, std::vector<const record::Transfer*>> transfers; // by copy
    for (const record::Transfer& transfer : state.transfers) {
        transfers[transfer.copy].push_back(&transfer);
    }
    for (const record::CopyMade& copy : state.copies) {
        CopyRow row;
        row.id = copy.copy;
        row.of = copy.of;
        row.tensor = history.tensor_name(state, copy.of);
        row.to = copy.backend;
        row.stage = copy.stage;
        row.bytes = copy.bytes;
        row.from = copy.graph_input ? copy.backend : state.tensors[copy.of].backend;
        if (const int32_t split = state.tensors[copy.copy].split; split >= 0) {
            row.split = split;
        }
        if (const auto moved = transfers.find(copy.copy); moved != transfers.end()) {
            for (const record::Transfer* transfer : moved->second) {
                row.moved_bytes = row.moved_bytes.value_or(0) + transfer->bytes;
                row.time_ns = row.time_ns.value_or(0) + transfer->end_ns - transfer->start_ns;
                row.start_ns = row.start_ns < 0 ? transfer->start_ns : std::min(row.start_ns, transfer->start_ns);
                if (transfer->experts >= 0) {
                    row.experts = transfer->experts;
                    row.experts_total = transfer->experts_total;
                }
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace schedscope::tables
