#include "inspector/tui/background/comparison.h"

#include "inspector/tui/background/folded_differences.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/folded_changes.h"
#include "traces/replay/no_change.h"
#include "traces/replay/plan_change.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace schedscope::tui {
namespace {

// What if

Comparison::ComparedPlan plan_of(const PlanComparison& c, const SessionInfo& session) {
    Comparison::ComparedPlan plan;
    plan.evaluation = c.evaluation;
    plan.title = "evaluation " + std::to_string(c.evaluation) + ", " + std::string(kind_text(c.kind)) + " of " +
                 counted(c.n_tokens.value_or(0), "token");
    std::vector<Comparison::Figure>& figures = plan.figures;
    if (!c.recorded.error.empty() || !c.now.error.empty()) {
        figures.push_back({"no plan", c.recorded.error, c.now.error, true, !c.now.error.empty()});
    }
    if (!c.stays_as_recorded.empty()) {
        figures.push_back({"stays as it was recorded", c.stays_as_recorded, "", true});
    }
    if (!c.flash_caveat.empty()) {
        figures.push_back({"with -fa auto", "", c.flash_caveat, true, false, "another graph than this"});
    }
    if (c.has_older_buffers) {
        figures.push_back({"memory", "", std::string(accounts::older_buffers_words), true});
    }
    for (const MemoryFit& fit : memory_fits(c, session)) {
        figures.push_back({"memory of " + fit.backend, fit.text_of_recorded(), fit.text_of_now(), true, !fit.fits(fit.now),
                           fit.is_removed ? "" : fit.brief(fit.now, fit.is_about), fit.is_added ? "" : fit.brief(fit.recorded)});
    }
    for (const Measure& m : measures_of(c)) {
        figures.push_back({m.name, m.text(m.a, ""), m.text_of_b("")});
    }
    if (c.reordered) {
        figures.push_back({"order of nodes", "as recorded", "another"});
    }
    return plan;
}

/// The rows that `replay --set` prints.
void add_rows(const AlikePlans& plans, std::vector<Comparison::Row>& rows) {
    for (const FoldedChange& change : folded_changes(*plans.front())) {
        Comparison::Row row;
        row.evaluation = plans.front()->evaluation;
        row.what = change.members.size() > 1 ? "assignments" : "assignment";
        row.name = change.name;
        row.left = change.recorded;
        row.right = change.now;
        row.n = n_of(change.members);
        row.names = joined(change.members, " ", [&](size_t member) { return plans.front()->changes[member].name; });
        row.note = "pass " + change.passes.substr(0, change.passes.find(' ')) + " is the first that decides otherwise";
        if (plans.size() > 1) {
            row.evaluations = title_of(plans);
        }
        for (const PlanComparison* plan : plans) {
            for (const size_t member : change.members) {
                row.members.push_back({plan->evaluation, plan->changes[member].tensor, {}});
            }
        }
        rows.push_back(std::move(row));
    }
}

/// Of a plan in which no tensor changes there is only what follows from what did; the others' is counted by their sums. Places in
/// memory are told together: where one moves, all behind it do.
void add_what_follows(const ReplayResult& result, std::vector<Comparison::Row>& rows) {
    std::set<EvaluationId> told;
    for (const PlanComparison& plan : result.comparisons) {
        if (!plan.changes.empty()) {
            told.insert(plan.evaluation);
        }
    }
    std::vector<Comparison::Row> singles;
    std::vector<std::string> said;
    for (const ReplayDifference& d : result.differences) {
        if (told.contains(d.evaluation)) {
            continue;
        }
        Comparison::Row& row = singles.emplace_back();
        row.evaluation = d.evaluation;
        row.members = {{d.evaluation, d.tensor, {}}};
        row.what = d.what;
        row.name = d.name;
        row.left = d.recorded;
        row.right = d.now;
        if (d.what == "reallocation") {
            say_planned_again(row);
        }
        const bool elsewhere = d.what == "placement" && !d.recorded.empty() && !d.now.empty(); // each from and to another offset
        said.push_back(
            joined({std::to_string(d.evaluation), " ", d.what, "\n", elsewhere ? "" : joined({d.recorded, "\n", d.now})}));
    }
    for (Comparison::Row& row : fold_rows(singles, said)) {
        rows.push_back(std::move(row));
    }
}

WhatIf what_if_of(const std::string& settings, const BackendKnowledge& backends) {
    WhatIf what_if;
    what_if.profiles = backends.profiles;
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        what_if.set(word);
    }
    return what_if;
}

} // namespace

std::string Comparison::told_of_left_out() const {
    return left_out < 0
               ? ""
               : "evaluation " + std::to_string(left_out) + " is left out: its plan is not complete" +
                     (plans.empty() ? "" : "; the newest one that is: evaluation " + std::to_string(plans.back().evaluation));
}

ReplayOptions planned_again(const RecordSource& source, const std::string& settings, const BackendKnowledge& backends) {
    ReplayOptions options = options_for(what_if_of(settings, backends), source);
    options.optimise = backends.optimise;
    return options;
}

Comparison compare_what_if(const std::shared_ptr<const RecordSource>& source, const std::string& settings,
                           const BackendKnowledge& backends) {
    const ReplayOptions options = planned_again(*source, settings, backends);
    const ReplayResult result = replay(*source, options);

    Comparison c;
    c.title = settings.empty() ? "planned again" : "what if " + settings;
    c.left = "recorded";
    c.right = settings.empty() ? "now" : "changed";
    c.n_compared = result.compared;
    c.n_differences = result.n_differences;
    c.left_out = result.stopped && !result.stopped->planned ? result.stopped->evaluation : -1;
    const SessionInfo session = source->session();
    for (const PlanComparison& plan : result.comparisons) {
        c.plans.push_back(plan_of(plan, session));
    }
    for (const AlikePlans& plans : alike_plans(result)) {
        add_rows(plans, c.rows);
    }
    add_what_follows(result, c.rows);
    std::stable_sort(c.rows.begin(), c.rows.end(),
                     [](const Comparison::Row& a, const Comparison::Row& b) { return a.evaluation < b.evaluation; });
    if (c.rows.empty() && !settings.empty()) {
        c.nothing = why_nothing_changed(what_if_of(settings, backends), source);
    }
    return c;
}

Comparison compare_traces(const std::shared_ptr<const RecordSource>& source, const std::shared_ptr<const RecordSource>& other,
                          const std::string& name) {
    History a(source), b(other);
    const diff::Result result = diff::compare(a, b);

    Comparison c;
    c.title = "diff " + name;
    c.left = "this trace";
    c.right = name;
    c.n_compared = result.identical() ? result.decisions : 0;
    c.n_differences = result.differences.size();
    const bool together = !told_together(result.settings).empty();
    for (const diff::Setting& s : result.settings) {
        (together && s.one_sided() ? c.one_sided : c.settings).push_back({s.name, s.a.value_or(""), s.b.value_or("")});
    }
    if (together) {
        const auto known = [&](std::string Comparison::Figure::*side) {
            return std::to_string(std::count_if(c.one_sided.begin(), c.one_sided.end(),
                                                [&](const Comparison::Figure& figure) { return !(figure.*side).empty(); }));
        };
        c.settings.push_back({"settings of one alone", known(&Comparison::Figure::left), known(&Comparison::Figure::right)});
    }
    for (const diff::DiffSummary& summary : result.summaries) {
        Comparison::ComparedPlan plan;
        plan.evaluation = summary.eval_a;
        plan.title = std::string(kind_text(summary.kind)) + ": evaluation " + std::to_string(summary.eval_a) +
                     (summary.eval_b != summary.eval_a ? ", " + std::to_string(summary.eval_b) + " of the other" : "");
        for (const Measure& m : summary.measures) {
            if (m.unit != Measure::Unit::time) {
                const std::string alike = m.same() ? m.text_of_same(c.left, c.right, "") : "";
                const auto [left, right] = m.same() ? std::pair{alike, alike} : m.texts_of_each("");
                plan.figures.push_back({m.name, left, right});
            }
        }
        c.plans.push_back(std::move(plan));
    }
    c.rows = folded_differences(result, a);
    if (c.rows.empty()) {
        c.nothing.push_back("all " + counted(result.decisions, "decision") + " of " + counted(result.evaluations, "pair") +
                            " of evaluations are the same");
    }
    return c;
}

} // namespace schedscope::tui
