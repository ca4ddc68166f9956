#include "runtime/numbers.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/verdict_words.h"
#include "viz/pictures/blocks.h"
#include "viz/pictures/subject.h"
#include "viz/query/describer.h"
#include "viz/report/report_parts.h"
#include "viz/tables/memory.h"
#include "viz/tables/nodes.h"
#include "viz/tables/passes.h"

#include <cmath>

namespace schedscope {

namespace {

using nlohmann::json;
using query::Field;

/// none: a number that no tensor has, or a node of which nothing is known.
enum class ReportRole : uint8_t { leaf, weight, node, view, copy, none };

ReportRole role_of(const Subject& subject, TensorId id) {
    if (subject.is_left_out(id)) {
        return ReportRole::none;
    }
    if (id >= subject.n_tensors()) {
        return subject.made_by(id) != nullptr ? ReportRole::copy : ReportRole::none;
    }
    if (!subject.is_node(id)) {
        return subject.is_weight(id) ? ReportRole::weight : ReportRole::leaf;
    }
    return subject.is_view_op(id) ? ReportRole::view : ReportRole::node;
}

/// [name, operator, as people read it, type, extents (null: unknown), role, split, group, position in the order, kind, bytes
/// (null: unknown)]. Operator, kind and bytes are as queries know them.
json tensor_rows(History& history, const Subject& subject, const std::vector<int32_t>& group_of, ReportTexts& texts) {
    json rows = json::array();
    query::Describer describer(history);
    query::Facts facts;
    for (TensorId id = 0; id < subject.n_ids(); ++id) {
        const TensorInfo& info = subject.info(id);
        describer.tensor(subject.state, id, facts);
        const double bytes = facts.number(Field::bytes);
        json ne = info.ne ? json(*info.ne) : json(nullptr);
        rows.push_back({texts.number(subject.is_left_out(id) ? query::left_out_name : subject.name(id)),
                        texts.number(facts.text(Field::op)), texts.number(operator_text(info)), texts.number(type_text(info)),
                        std::move(ne), role_of(subject, id), subject.state.tensors[id].split, group_of[id], subject.position(id),
                        texts.number(facts.text(Field::kind)),
                        std::isnan(bytes) ? json(nullptr) : json(static_cast<int64_t>(bytes))});
    }
    return rows;
}

/// Every tensor that is not as it was before: [id, backend, cause, by, the pass that put it there].
json changes_between(const std::vector<TensorState>& before, const std::vector<TensorState>& after, ReportTexts& texts) {
    json changes = json::array();
    for (size_t id = 0; id < after.size(); ++id) {
        const TensorState was = id < before.size() ? before[id] : TensorState{}, &now = after[id];
        if (was.backend != now.backend || was.cause != now.cause || was.source != now.source || was.by != now.by) {
            changes.push_back({id, now.backend, texts.number(cause_text(now.cause, now.source)), now.by, now.pass});
        }
    }
    return changes;
}

/// Of each pass that was recorded: the step that it ends with, and what it changed. A trace without records of passes: one row,
/// `whole`, has the plan.
json pass_rows(History& history, EvaluationId planned, ReportTexts& texts) {
    json rows = json::array();
    std::vector<TensorState> before;
    for (auto pass = ordinal(Pass::place); pass < ordinal(Pass::count); ++pass) {
        const Step end = accounts::end_of_pass(history, planned, static_cast<Pass>(pass));
        if (end == no_step) {
            continue;
        }
        const PlanState& state = history.state_at(end);
        rows.push_back({{"pass", pass}, {"end", end}, {"changes", changes_between(before, state.tensors, texts)}});
        before = state.tensors;
    }
    if (rows.empty() && !history.knows(Topic::passes)) {
        const PlanState& plan = history.plan(planned);
        rows.push_back({{"pass", ordinal(Pass::none)}, {"whole", true}, {"changes", changes_between({}, plan.tensors, texts)}});
    }
    return rows;
}

json tables_of(History& history, const PlanState& state, ReportTables& tables) {
    json made = json::object();
    tables::NodesTable nodes(history);
    nodes.update(state);
    tables.add(nodes, made);
    tables::PassesTable passes(history);
    passes.update(state);
    tables.add(passes, made);
    tables::BuffersTable buffers(history);
    accounts::MemoryAccount memory = accounts::memory(history, state);
    buffers.update(state, std::move(memory.memory));
    tables.add(buffers, made);
    tables::ResidentTable resident(history);
    resident.update(state, std::move(memory.resident));
    tables.add(resident, made);
    tables.add(tables::ReservesTable(accounts::told_once(std::move(memory.reserves))), made);
    tables::PlacesTable places(history);
    places.update(state);
    tables.add(places, made);
    return made;
}

} // namespace

json report_plan(History& history, EvaluationId planned, ReportTexts& texts, ReportTables& tables) {
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
            groups.push_back(blocks[i].title());
        }
        group_of[state.order[i]] = at;
    }

    json copies = json::array(); // by id, what each is of
    for (const record::CopyMade& made : state.copies) {
        copies.push_back({made.copy, made.of});
    }
    return {{"eval", planned},
            {"error", state.error},
            {"verdict", verdict_line(history.source(), state)},
            {"order", state.order},
            {"tensors", tensor_rows(history, subject, group_of, texts)},
            {"groups", std::move(groups)},
            {"passes", std::move(passes)},
            {"copies", std::move(copies)},
            {"tables", tables_of(history, state, tables)}};
}

} // namespace schedscope
