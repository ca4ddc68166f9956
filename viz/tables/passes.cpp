#include "viz/tables/passes.h"

#include "traces/history/accounts/passes.h"
namespace schedscope::tables {

std::span<const PassesTable::Entry> PassesTable::entries() {
    using T = const PassesTable&;
    using R = const accounts::PassRow&;
    static const Entry list[] = {
        {{.key = "pass", .title = "pass", .help = "its name"}, [](T, R r) -> Cell { return pass_name(r.pass); }},
        {{.key = "title", .title = "what", .help = "what it does"}, [](T, R r) -> Cell { return pass_title(r.pass); }},
        {{.key = "assigned",
          .title = "assigned",
          .help = "leafs and nodes with a backend after it; copies come with theirs and do not count",
          .unit = Unit::number},
         [](T, R r) -> Cell { return r.assigned; }},
        {{.key = "unassigned", .title = "unassigned", .help = "leafs and nodes without one", .unit = Unit::number},
         [](T, R r) -> Cell { return r.unassigned; }},
        {{.key = "changed",
          .title = "changed",
          .help = "tensors that it assigned, and copies that it made",
          .unit = Unit::number},
         [](T, R r) -> Cell { return r.changed; }},
        {{.key = "copies",
          .title = "of these copies",
          .help = "copies that it made, which are among what changed",
          .unit = Unit::number},
         [](T, R r) -> Cell { return r.copies; }},
        {{.key = "time_ns", .title = "time", .help = "that it took; nothing while it is not over", .unit = Unit::time},
         [](T, R r) -> Cell { return r.time_ns; }},
    };
    return list;
}

PassesTable::PassesTable(History& history) : PlanTable("passes", history) {}

void PassesTable::update(const PlanState& state) {
    look_at(state);
    say_when_empty(Topic::passes, "what each pass did", "no passes were recorded");
    rows_ = accounts::passes(history(), state.planned_in);
}

} // namespace schedscope::tables
