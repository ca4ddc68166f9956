#include "viz/report/report_parts.h"
#include "viz/tables/copies.h"
#include "viz/tables/groups.h"
#include "viz/tables/splits.h"
#include "viz/tables/timeline.h"
#include "viz/tables/values.h"

namespace schedscope {

using nlohmann::json;

json report_run(History& history, EvaluationId evaluation, bool with_events, ReportTables& tables) {
    const PlanState state = history.plan(evaluation); // names are looked up in other states
    json made = json::object();
    const auto add = [&](auto table) {
        table.update(state);
        tables.add(table, made);
    };
    add(tables::SplitsTable(history));
    add(tables::CopiesTable(history));
    add(tables::GroupsTable(history));
    if (with_events) {
        add(tables::TimelineTable(history, tables::TimelineTable::Shows::all));
        add(tables::TimeTable(history, accounts::TimeBy::device, "devices"));
        add(tables::TimeTable(history, accounts::TimeBy::kernel));
        const accounts::TimeExtent extent = accounts::time_extent(history, state);
        made["extent"] = {extent.begin_ns, extent.end_ns};
        made["not_timed"] = accounts::untimed_splits(history, state);
        add(tables::ValuesTable(history));
        add(tables::DifferencesTable(history, tables::DifferencesTable::Shows::differences));
    }
    return made;
}

} // namespace schedscope
