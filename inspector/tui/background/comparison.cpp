#include "inspector/tui/background/comparison.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/no_change.h"
#include "traces/replay/plan_change.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

namespace schedscope::tui {
namespace {

// What if

std::string place_of(const std::string& backend, const std::string& cause) {
    return backend.empty() ? "" : cause.empty() ? backend : backend + " by " + cause;
}

/// "569 KiB of 2.0 GiB, fits".
std::string fit_text(int64_t bytes, int64_t memory) {
    if (memory <= 0) {
        return words::bytes(bytes) + " of unknown";
    }
    return words::bytes(bytes) + " of " + words::bytes(memory) + (bytes <= memory ? ", fits" : ", DOES NOT FIT");
}

/// All that lies in a device's own memory: weights, cache and compute buffer; −1: nothing.
int64_t in_device(const PlanFigures& figures, const std::string& buffer_type) {
    const auto found = figures.by_buffer_type.find(buffer_type);
    return found == figures.by_buffer_type.end() ? -1 : found->second;
}

Comparison::ComparedPlan plan_of(const PlanComparison& c, const SessionInfo& session) {
    Comparison::ComparedPlan plan;
    plan.evaluation = c.evaluation;
    plan.title = "evaluation " + std::to_string(c.evaluation) + ", " + std::string(kind_text(c.kind)) + " of " +
                 counted(c.n_tokens.value_or(0), "token");
    std::vector<Comparison::Figure>& figures = plan.figures;
    if (!c.recorded.error.empty() || !c.now.error.empty()) {
        figures.push_back({"no plan", c.recorded.error, c.now.error, true, !c.now.error.empty()});
    }
    for (const BackendInfo& backend : session.backends) {
        const size_t type = or_none(backend.default_buffer_type);
        const int64_t memory_bytes = backend.memory_bytes.value_or(0);
        const std::string buffer_type = type < session.buffer_types.size() ? session.buffer_types[type].name : backend.name;
        const int64_t left = in_device(c.recorded, buffer_type), right = in_device(c.now, buffer_type);
        if (left >= 0 || right >= 0) {
            figures.push_back({"memory of " + backend.name, fit_text(std::max<int64_t>(left, 0), memory_bytes),
                               fit_text(std::max<int64_t>(right, 0), memory_bytes), true,
                               memory_bytes > 0 && right > memory_bytes});
        }
    }
    for (const Measure& m : measures_of(c)) {
        figures.push_back({m.name, m.text(m.a, ""), m.text(m.b, "")});
    }
    return plan;
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
        for (const TensorChange& change : plan.changes) {
            Comparison::Row row{plan.evaluation,
                                change.tensor,
                                "assignment",
                                change.name,
                                place_of(change.recorded_backend, change.recorded_cause),
                                place_of(change.now_backend, change.now_cause),
                                {},
                                {},
                                {}};
            row.note = "pass " + std::string(pass_name(change.pass)) + " is the first that decides otherwise";
            c.rows.push_back(std::move(row));
        }
    }
    std::set<std::tuple<EvaluationId, TensorId, std::string>> told;
    for (const Comparison::Row& row : c.rows) {
        told.emplace(row.evaluation, row.tensor, row.name);
    }
    // The tensors are told above, each once; of a copy or a graph that has other tensors there is only what follows.
    for (const ReplayDifference& d : result.differences) {
        if (d.what != "assignment" || !told.contains({d.evaluation, d.tensor, d.name})) {
            c.rows.push_back({d.evaluation, d.tensor, d.what, d.name, d.recorded, d.now, {}, {}, {}});
        }
    }
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
        Comparison::Row row{d.eval_a,
                            d.id_a,
                            with_underscores_as_spaces(diff::what_name(d.what)),
                            d.subject,
                            value_text(d.what, d.a),
                            value_text(d.what, d.b),
                            d.note,
                            number_of(d.a),
                            number_of(d.b)};
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
