#pragma once

#include "traces/history/accounts/memory.h"
#include "viz/tables/copies.h"
#include "viz/tables/groups.h"
#include "viz/tables/memory.h"
#include "viz/tables/nodes.h"
#include "viz/tables/passes.h"
#include "viz/tables/queries.h"
#include "viz/tables/splits.h"
#include "viz/tables/timeline.h"
#include "viz/tables/tokens.h"
#include "viz/tables/values.h"
#include "viz/tables/verdicts.h"

namespace schedscope::test {

/// `look(table)` for each table of a state, made for it and gone behind it.
template <typename Look> void for_each_table(History& history, const PlanState& state, Look&& look) {
    const auto updated = [&](auto table) {
        table.update(state);
        look(table);
    };
    if (const OwnedGraph* graph = history.graph_of(state)) {
        tables::NodesTable nodes(history);
        nodes.update(state, tables::tensors_in_order(*graph, state));
        look(nodes);
    }
    tables::BuffersTable buffers(history);
    buffers.update(state, accounts::memory(history, state).memory);
    look(buffers);
    updated(tables::PassesTable(history));
    updated(tables::SplitsTable(history));
    updated(tables::CopiesTable(history));
    updated(tables::GroupsTable(history));
    updated(tables::OrdersTable());
    updated(tables::PlacesTable(history));
    updated(tables::TimelineTable(history, tables::TimelineTable::Shows::all));
    updated(tables::TimeTable(history, accounts::TimeBy::op));
    updated(tables::EvaluationsTable(history));
    updated(tables::ValuesTable(history));
    updated(tables::DifferencesTable(history));
    updated(tables::QueriesTable(history));
    look(tables::VerdictsTable(history));
    const tables::TokensTable tokens(history);
    look(tokens);
    look(tables::SamplerPlacesTable(history, tokens.rows()));
}

} // namespace schedscope::test
