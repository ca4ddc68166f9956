#include "viz/tables/verdicts.h"

#include "runtime/system/number_words.h"

namespace schedscope::tables {

using query::Field;

namespace {

/// "226 of 226"
Cell of_all(std::optional<int64_t> identical, std::optional<int64_t> all) {
    return all ? Cell(words::count(identical.value_or(0)) + " of " + words::count(*all)) : Cell::unknown();
}

/// Where there is none. A trace of our own runs knows their settings.
std::string why_none(const History& history) {
    const bool has_plans = history.source().count(fact_bit<record::PlanBegin>()) > 0;
    std::string why = "this trace is none of another program's scheduler";
    if (!history.session().settings && !has_plans) {
        why = "none of the program's plans was seen";
        why += history.n_evaluations() > 0 ? ", those that it ran were made before it was recorded" : "";
    } else if (!history.session().settings && !history.knows(Topic::answers)) {
        why = "what its backends answered is not recorded";
    }
    return "no plan was made again: " + why;
}

} // namespace

std::span<const VerdictsTable::Entry> VerdictsTable::entries() {
    using T = const VerdictsTable&;
    using R = const VerdictRow&;
    static const Entry list[] = {
        {{.key = "eval", .title = "eval", .help = "the evaluation", .unit = Unit::number, .field = Field::evaluation},
         [](T, R r) -> Cell { return r.eval; }},
        {{.key = "kind", .title = "graph", .help = "what it is for", .field = Field::type},
         [](T, R r) -> Cell { return r.kind ? Cell(kind_text(r.kind)) : Cell::unknown(); }},
        {{.key = "nodes", .title = "nodes", .help = "of its graph", .unit = Unit::count}, [](T, R r) -> Cell { return r.nodes; }},
        {{.key = "splits", .title = "splits", .help = "of its plan", .unit = Unit::count},
         [](T, R r) -> Cell { return r.splits; }},
        {{.key = "decisions", .help = "that were compared: assignments, splits, inputs, sources", .unit = Unit::count},
         [](T, R r) -> Cell { return r.verdict.decisions; }},
        {{.key = "identical", .help = "of them", .unit = Unit::count}, [](T, R r) -> Cell { return r.verdict.identical; }},
        {{.title = "decisions", .help = "assignments, splits, inputs and sources that are the same"},
         [](T, R r) { return of_all(r.verdict.identical, r.verdict.decisions); }},
        {{.key = "placements", .help = "in memory that were compared", .unit = Unit::count},
         [](T, R r) -> Cell { return Cell::known(r.verdict.placements); }},
        {{.key = "placements_identical", .help = "of them", .unit = Unit::count},
         [](T, R r) -> Cell { return Cell::known(r.verdict.placements_identical); }},
        {{.title = "places in memory", .help = "of tensors that are the same; not known where it was not watched from its birth"},
         [](T, R r) { return of_all(r.verdict.placements_identical, r.verdict.placements); }},
        {{.key = "rules", .title = "rules of", .help = "the builds of llama.cpp by whose rules it was planned"},
         [](T, R r) { return Cell::if_any(r.rules); }},
        {{.key = "first", .title = "first difference", .help = "between what was planned and what the scheduler did"},
         [](T, R r) { return Cell::if_any(r.first); }},
    };
    return list;
}

VerdictsTable::VerdictsTable(History& history) : PlanTable("verdicts", history) {
    rows_ = verdicts_of(history.source(), history.n_steps());
    when_empty_ = why_none(history);
}

} // namespace schedscope::tables
