#include "runtime/numbers.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/unknown.h"
#include "viz/pictures/blocks.h"
#include "viz/pictures/subject.h"
#include "viz/report/report_parts.h"

namespace schedscope {

namespace {

using nlohmann::json;

/// none: a number that no tensor has, or a node that a log leaves out.
enum class Role : uint8_t { leaf, weight, node, view, copy, none };

Role role_of(const Subject& subject, TensorId id) {
    if (subject.is_left_out(id)) {
        return Role::none;
    }
    if (id >= subject.n_tensors()) {
        return subject.made_by(id) != nullptr ? Role::copy : Role::none;
    }
    if (!subject.is_node(id)) {
        return subject.is_weight(id) ? Role::weight : Role::leaf;
    }
    return is_view_op(subject.info(id).op) ? Role::view : Role::node;
}

/// [name, operator, as people read it, type, extents (null: unknown), role, split, group, position in the order]
json tensor_rows(const Subject& subject, const std::vector<int32_t>& group_of, ReportTexts& texts) {
    json rows = json::array();
    for (TensorId id = 0; id < subject.n_ids(); ++id) {
        const TensorInfo& info = subject.info(id);
        json ne = told_by_log(info) ? json(nullptr) : json(info.ne);
        rows.push_back({texts.number(subject.is_left_out(id) ? "(not in the log)" : subject.name(id)),
                        texts.number(op_name(info.op)), texts.number(operator_text(info)), texts.number(type_text(info)),
                        std::move(ne), role_of(subject, id), subject.state.tensors[id].split, group_of[id],
                        subject.position(id)});
    }
    return rows;
}

/// Every tensor that is not as it was before: [id, backend, cause, by].
json changes_between(const std::vector<TensorState>& before, const std::vector<TensorState>& after, ReportTexts& texts) {
    json changes = json::array();
    for (size_t id = 0; id < after.size(); ++id) {
        const TensorState was = id < before.size() ? before[id] : TensorState{}, &now = after[id];
        if (was.backend != now.backend || was.cause != now.cause || was.source != now.source || was.by != now.by) {
            changes.push_back({id, now.backend, texts.number(cause_name(now.cause, now.source)), now.by});
        }
    }
    return changes;
}

/// Of each pass that was recorded: what `show --what passes` says of it, and what it changed. A log has no passes: one row, `whole`, has the plan.
json pass_rows(History& history, EvaluationId planned, ReportTexts& texts) {
    json rows = json::array();
    const std::vector<tables::PassRow> table = tables::passes(history, planned);
    std::vector<TensorState> before;
    for (auto pass = ordinal(Pass::place); pass < ordinal(Pass::count); ++pass) {
        const Step end = tables::end_of_pass(history, planned, static_cast<Pass>(pass));
        if (end == no_step) {
            continue;
        }
        const PlanState& state = history.state_at(end);
        json changes = changes_between(before, state.tensors, texts);
        before = state.tensors;
        json row{{"pass", pass}, {"changes", std::move(changes)}};
        for (const tables::PassRow& known : table) {
            if (known.pass == static_cast<Pass>(pass)) {
                row["assigned"] = known.assigned;
                row["unassigned"] = known.unassigned;
                row["changed"] = known.changed;
                row["ns"] = known.time_ns ? json(*known.time_ns) : json(nullptr);
            }
        }
        rows.push_back(std::move(row));
    }
    if (const PlanState& plan = history.plan(planned); rows.empty() && is_imported(history, plan)) {
        rows.push_back({{"pass", ordinal(Pass::none)}, {"whole", true}, {"changes", changes_between({}, plan.tensors, texts)}});
    }
    return rows;
}

json fusion_rows(const Subject& subject, ReportTexts& texts) {
    const auto n_nodes = n_of(subject.state.order);
    json fused = json::array(), not_fused = json::array(), reorders = json::array();
    for (const record::Fusion& fusion : subject.state.fusions) {
        json nodes = json::array();
        for (int32_t i = fusion.first; i < std::min(n_nodes, fusion.first + fusion.count); ++i) {
            nodes.push_back(subject.state.order[i]);
        }
        fused.push_back({fusion.split, fusion.backend, texts.number(subject.text(fusion.kernel)), std::move(nodes)});
    }
    for (const record::NotFused& pair : subject.state.not_fused) {
        not_fused.push_back({pair.split, pair.backend, pair.first, pair.second, texts.number(subject.text(pair.why))});
    }
    for (const record::Reorder& moved : subject.state.reorders) {
        reorders.push_back({moved.split, moved.node, moved.from, moved.to});
    }
    return {{"fused", std::move(fused)}, {"not_fused", std::move(not_fused)}, {"reorders", std::move(reorders)}};
}

/// Buffers: [type, size, the highest byte used, the most that is needed at once, why memory was planned again (0: it was not)], null where a log tells no
/// places. Placements: [tensor, size].
json memory_rows(History& history, const PlanState& state, ReportTexts& texts) {
    const tables::MemoryTable table = tables::memory(history, state);
    json buffers = json::array(), placements = json::array();
    for (const tables::MemoryRow& row : table.memory) {
        const auto if_known = [&](int64_t bytes) { return row.use_known ? json(bytes) : json(nullptr); };
        buffers.push_back({texts.number(row.buffer_type), row.size, if_known(row.peak), if_known(row.most_live),
                           row.replan ? texts.number(*row.replan) : 0});
    }
    for (const tables::PlacementRow& row : table.tensors) {
        placements.push_back({row.id, row.size});
    }
    return {{"buffers", std::move(buffers)}, {"placements", std::move(placements)}};
}

} // namespace

json report_plan(History& history, EvaluationId planned, ReportTexts& texts) {
    json passes = pass_rows(history, planned, texts); // before the state below, which does not outlive another
    const PlanState state = history.plan(planned);
    const OwnedGraph* graph = history.graph_of(state);
    const Subject subject = subject_of(history, state, *graph, "");

    json groups = json::array();
    std::vector<int32_t> group_of(subject.n_ids(), -1);
    const std::vector<NodeBlock> blocks = blocks_of(subject);
    std::vector<NodeBlock> known;
    for (size_t i = 0; i < blocks.size(); ++i) {
        const auto found = std::find(known.rbegin(), known.rend(), blocks[i]); // most nodes lie in the block seen last
        auto at = int_of(known.rend() - found) - 1;
        if (found == known.rend()) {
            at = n_of(known);
            known.push_back(blocks[i]);
            groups.push_back(blocks[i].id());
        }
        group_of[state.order[i]] = at;
    }

    const auto known_or_null = [](const auto& value) { return value ? json(*value) : json(nullptr); };
    json copies = json::array();
    for (const tables::CopyRow& row : tables::copies(history, state)) {
        copies.push_back(
            {row.id, row.of, row.from, row.to, known_or_null(row.stage), known_or_null(row.split), known_or_null(row.bytes)});
    }
    return {{"eval", planned},
            {"error", state.error},
            {"order", state.order},
            {"tensors", tensor_rows(subject, group_of, texts)},
            {"groups", std::move(groups)},
            {"passes", std::move(passes)},
            {"copies", std::move(copies)},
            {"fusion", fusion_rows(subject, texts)},
            {"memory", memory_rows(history, state, texts)}};
}

} // namespace schedscope
