#include "inspector/tui/background/comparison.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
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
    for (const MemoryFit& fit : memory_fits(c, session)) {
        figures.push_back({"memory of " + fit.backend, fit.text(fit.recorded), fit.text(fit.now), true, !fit.fits(fit.now)});
    }
    for (const Measure& m : measures_of(c)) {
        figures.push_back({m.name, m.text(m.a, ""), m.text(m.b, "")});
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
        row.left = change.recorded == "-" ? "" : change.recorded;
        row.right = change.now == "-" ? "" : change.now;
        row.n = n_of(change.members);
        row.names = joined(change.members, " ", [&](size_t member) { return plans.front()->changes[member].name; });
        row.note = "pass " + change.passes + " is the first that decides otherwise";
        if (plans.size() > 1) {
            row.evaluations = title_of(plans);
        }
        for (const PlanComparison* plan : plans) {
            for (const size_t member : change.members) {
                row.members.push_back({plan->evaluation, plan->changes[member].tensor});
            }
        }
        rows.push_back(std::move(row));
    }
}

/// Of a plan in which no tensor changes there is only what follows from what did; the others' is counted by their sums.
void add_what_follows(const ReplayResult& result, std::vector<Comparison::Row>& rows) {
    std::set<EvaluationId> told;
    for (const PlanComparison& plan : result.comparisons) {
        if (!plan.changes.empty()) {
            told.insert(plan.evaluation);
        }
    }
    for (const ReplayDifference& d : result.differences) {
        if (!told.contains(d.evaluation)) {
            Comparison::Row& row = rows.emplace_back();
            row.evaluation = d.evaluation;
            row.members = {{d.evaluation, d.tensor}};
            row.what = d.what;
            row.name = d.name;
            row.left = d.recorded;
            row.right = d.now;
        }
    }
}

// Two traces

std::string value_text(diff::What what, const diff::DiffValue& value) {
    if (const auto* n = std::get_if<int64_t>(&value)) {
        return what == diff::What::buffer || what == diff::What::peak ? words::bytes(*n) : words::count(*n);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
        return what == diff::What::token ? '"' + *text + '"' : *text;
    }
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    return list != nullptr ? joined(*list, " ") : "";
}

std::optional<int64_t> number_of(const diff::DiffValue& value) {
    const auto* n = std::get_if<int64_t>(&value);
    return n ? std::optional(*n) : std::nullopt;
}

std::string with_underscores_as_spaces(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

} // namespace

Comparison compare_what_if(const std::shared_ptr<const RecordSource>& source, const std::string& settings,
                           const OptimiseNodes& optimise) {
    WhatIf what_if;
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        what_if.set(word);
    }
    ReplayOptions options = options_for(what_if, *source);
    options.optimise = optimise;
    const ReplayResult result = replay(*source, options);

    Comparison c;
    c.title = settings.empty() ? "planned again" : "what if " + settings;
    c.left = "recorded";
    c.right = settings.empty() ? "now" : "changed";
    c.n_compared = result.compared;
    c.n_differences = result.n_differences;
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
        c.nothing = why_nothing_changed(what_if, source);
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
    c.n_compared = result.decisions;
    c.n_differences = result.differences.size();
    for (const diff::Setting& s : result.settings) {
        if (s.a != s.b) {
            c.settings.push_back({s.name, s.a.value_or(""), s.b.value_or("")});
        }
    }
    for (const diff::DiffSummary& summary : result.summaries) {
        Comparison::ComparedPlan plan;
        plan.evaluation = summary.eval_a;
        plan.title = std::string(kind_text(summary.kind)) + ": evaluation " + std::to_string(summary.eval_a) +
                     (summary.eval_b != summary.eval_a ? ", " + std::to_string(summary.eval_b) + " of the other" : "");
        for (const Measure& m : summary.measures) {
            if (m.unit != Measure::Unit::time) {
                plan.figures.push_back({m.name, m.text(m.a, ""), m.text(m.b, "")});
            }
        }
        c.plans.push_back(std::move(plan));
    }
    for (const diff::TraceDifference& d : result.differences) {
        Comparison::Row row;
        row.evaluation = d.eval_a;
        row.members = {{d.eval_a, d.id_a}};
        row.what = with_underscores_as_spaces(diff::what_name(d.what));
        row.name = d.subject;
        row.left = value_text(d.what, d.a);
        row.right = value_text(d.what, d.b);
        row.note = d.note;
        row.left_number = number_of(d.a);
        row.right_number = number_of(d.b);
        if (!d.renamed.empty()) {
            row.name += " (" + d.renamed + ")";
        }
        if (row.left == row.right && !d.note.empty()) {
            const size_t arrow = d.note.find(" → "); // "by 1.wgt0 → 1.off": the same backend, by another rule
            if (arrow != std::string::npos) {
                row.left += " " + d.note.substr(0, arrow);
                row.right += " " + d.note.substr(arrow + std::string_view(" → ").size());
            }
        }
        c.rows.push_back(std::move(row));
    }
    if (c.rows.empty()) {
        c.nothing.push_back("all " + counted(result.decisions, "decision") + " of " + counted(result.evaluations, "pair") +
                            " of evaluations are the same");
    }
    return c;
}

} // namespace schedscope::tui
