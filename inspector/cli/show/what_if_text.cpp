#include "inspector/cli/show/what_if_text.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/fold_names.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/plan_change.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <span>

namespace schedscope {

namespace {

bool same_change(const TensorChange& a, const TensorChange& b) {
    return a.name == b.name && a.is_node == b.is_node && a.pass == b.pass && a.recorded_backend == b.recorded_backend &&
           a.now_backend == b.now_backend && a.recorded_cause == b.recorded_cause && a.now_cause == b.now_cause;
}

/// Plans that are told together: the same before, the same after, the same tensors changed.
bool alike(const PlanComparison& a, const PlanComparison& b) {
    return a.kind == b.kind && a.n_tokens == b.n_tokens && a.recorded == b.recorded && a.now == b.now &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(), same_change);
}

using AlikePlans = std::vector<const PlanComparison*>; ///< alike plans

std::vector<AlikePlans> folded(const ReplayResult& result) {
    std::vector<AlikePlans> all;
    for (const PlanComparison& c : result.comparisons) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const AlikePlans& told) { return alike(*told.front(), c); });
        (same != all.end() ? *same : all.emplace_back()).push_back(&c);
    }
    return all;
}

std::string title(const AlikePlans& told) {
    constexpr size_t most = 8;
    std::string ids = joined(std::span(told).first(std::min(told.size(), most)), ", ",
                             [](const PlanComparison* c) { return std::to_string(c->evaluation); });
    ids += told.size() > most ? " …" : "";
    const PlanComparison& c = *told.front();
    return (told.size() > 1 ? "evaluations " : "evaluation ") + ids + ": " + std::string(kind_text(c.kind)) +
           (c.n_tokens ? ", " + words::counted(*c.n_tokens, "token") : "");
}

void summary(const PlanComparison& c, std::ostream& out) {
    TextTable table({{""}, {"recorded", TextTable::Align::right}, {"now", TextTable::Align::right}, {""}});
    for (const Measure& m : measures_of(c)) {
        const std::string before = m.text(m.a, "-"), after = m.text(m.b, "-");
        table.row({m.name, before, after, before == after ? "" : "changed"});
    }
    table.print(out);
    for (const auto& [when, figures] : {std::pair{"recorded", &c.recorded}, std::pair{"now", &c.now}}) {
        if (!figures->error.empty()) {
            OutputLine(out) << "no plan " << when << ": " << figures->error;
        }
    }
}

/// A run of tensors to which the same happens.
struct RunOfChanges {
    const TensorChange* first = nullptr;
    const TensorChange* last = nullptr;
    int64_t n = 0;
    std::set<Pass> passes;
    bool one_cause = true; ///< all of them by the same rules
};

bool goes_on(const RunOfChanges& run, const TensorChange& c) {
    const TensorChange& f = *run.first;
    const bool moves = c.recorded_backend != c.now_backend;
    return c.is_node == f.is_node && c.recorded_backend == f.recorded_backend && c.now_backend == f.now_backend &&
           (moves || (c.recorded_cause == f.recorded_cause && c.now_cause == f.now_cause));
}

std::vector<RunOfChanges> runs_of(const std::vector<TensorChange>& changes) {
    std::vector<RunOfChanges> runs;
    for (const TensorChange& c : changes) {
        if (runs.empty() || !goes_on(runs.back(), c)) {
            runs.emplace_back().first = &c;
        }
        RunOfChanges& run = runs.back();
        run.last = &c;
        ++run.n;
        run.one_cause = run.one_cause && c.recorded_cause == run.first->recorded_cause && c.now_cause == run.first->now_cause;
        run.passes.insert(c.pass);
    }
    return runs;
}

std::string place(const std::string& backend, const std::string& cause, bool with_cause) {
    if (backend.empty()) {
        return "-";
    }
    return with_cause && !cause.empty() ? backend + " by " + cause : backend;
}

/// Runs of different layers to which the same happens are one row.
struct FoldedRuns {
    std::vector<std::string> key;
    const RunOfChanges* first = nullptr;
    int64_t runs = 0, tensors = 0;
};

std::string passes_of(const RunOfChanges& run) { return joined(run.passes, " ", pass_name); }

void rows(const PlanComparison& c, std::ostream& out) {
    const std::vector<RunOfChanges> runs = runs_of(c.changes);
    std::vector<FoldedRuns> rows;
    for (const RunOfChanges& run : runs) {
        const TensorChange& f = *run.first;
        std::vector<std::string> key = {in_any_layer(f.name, f.name),
                                        in_any_layer(run.last->name, run.last->name),
                                        std::to_string(run.n),
                                        passes_of(run),
                                        place(f.recorded_backend, f.recorded_cause, run.one_cause),
                                        place(f.now_backend, f.now_cause, run.one_cause)};
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const FoldedRuns& row) { return row.key == key; });
        FoldedRuns& row = same != rows.end() ? *same : rows.emplace_back(FoldedRuns{std::move(key), &run});
        ++row.runs;
        row.tensors += run.n;
    }
    TextTable table({{"pass"}, {"tensor"}, {"tensors", TextTable::Align::right}, {"recorded"}, {"now"}});
    for (const FoldedRuns& row : rows) {
        std::string name = row.first->first->name;
        if (row.first->n > 1) {
            name += " … " + row.first->last->name;
        }
        if (row.runs > 1) {
            name += ", " + words::and_more(row.runs - 1) + " alike";
        }
        table.row({row.key[3], name, std::to_string(row.tensors), row.key[4], row.key[5]});
    }
    table.print(out);
}

nlohmann::json figures_json(const PlanFigures& f) {
    return {{"nodes", f.nodes},         {"splits", f.splits},           {"copies", f.copies},
            {"inputs", f.inputs},       {"bytes_moved", f.bytes_moved}, {"memory", f.memory},
            {"error", or_null(f.error)}};
}

} // namespace

void what_if_text(const ReplayResult& result, const std::vector<std::string>& why_unchanged, std::ostream& out) {
    const std::vector<AlikePlans> all = folded(result);
    for (const AlikePlans& told : all) {
        out << title(told) << '\n';
        summary(*told.front(), out);
        out << '\n';
    }
    for (const AlikePlans& told : all) {
        const PlanComparison& c = *told.front();
        if (c.changes.empty()) {
            out << title(told) << ": no tensor changes\n";
            continue;
        }
        out << title(told) << ": " << words::counted(c.changes.size(), "tensor")
            << (c.changes.size() == 1 ? " changes" : " change") << '\n';
        rows(c, out);
        out << '\n';
    }
    for (const std::string& sentence : why_unchanged) {
        OutputLine(out) << sentence;
    }
    out << words::counted(result.plans, "plan") << " made again: " << result.identical << " of " << result.compared
        << " decisions identical" << (result.n_differences > 0 ? " (--json lists the others)" : "") << '\n';
}

nlohmann::json what_if_summary(const ReplayResult& result) {
    nlohmann::json list = nlohmann::json::array();
    for (const AlikePlans& told : folded(result)) {
        nlohmann::json evals = nlohmann::json::array();
        for (const PlanComparison* c : told) {
            evals.push_back(c->evaluation);
        }
        const PlanComparison& c = *told.front();
        list.push_back({{"evals", std::move(evals)},
                        {"kind", c.kind ? nlohmann::json(graph_kind_name(*c.kind)) : nlohmann::json(nullptr)},
                        {"n_tokens", c.n_tokens ? nlohmann::json(*c.n_tokens) : nlohmann::json(nullptr)},
                        {"recorded", figures_json(c.recorded)},
                        {"now", figures_json(c.now)}});
    }
    return list;
}

} // namespace schedscope
