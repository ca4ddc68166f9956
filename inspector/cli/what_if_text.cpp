#include "inspector/cli/what_if_text.h"

#include "inspector/cli/table.h"
#include "viz/units.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace schedscope {

namespace {

bool same_figures(const PlanFigures& a, const PlanFigures& b) {
    return a.nodes == b.nodes && a.memory == b.memory && a.splits == b.splits && a.copies == b.copies &&
           a.bytes_moved == b.bytes_moved && a.error == b.error;
}

bool same_change(const TensorChange& a, const TensorChange& b) {
    return a.name == b.name && a.is_node == b.is_node && a.pass == b.pass && a.recorded_backend == b.recorded_backend &&
           a.now_backend == b.now_backend && a.recorded_cause == b.recorded_cause && a.now_cause == b.now_cause;
}

/// Plans that are told together: the same before, the same after, the same tensors changed.
bool alike(const PlanComparison& a, const PlanComparison& b) {
    return a.kind == b.kind && a.n_tokens == b.n_tokens && same_figures(a.recorded, b.recorded) && same_figures(a.now, b.now) &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(), same_change);
}

using Told = std::vector<const PlanComparison*>; ///< alike plans

std::vector<Told> folded(const ReplayResult& result) {
    std::vector<Told> all;
    for (const PlanComparison& c : result.comparisons) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Told& told) { return alike(*told.front(), c); });
        (same != all.end() ? *same : all.emplace_back()).push_back(&c);
    }
    return all;
}

std::string title(const Told& told) {
    std::string ids;
    constexpr size_t most = 8;
    for (size_t i = 0; i < std::min(told.size(), most); ++i) {
        ids += (i == 0 ? "" : ", ") + std::to_string(told[i]->evaluation);
    }
    ids += told.size() > most ? " …" : "";
    const PlanComparison& c = *told.front();
    return (told.size() > 1 ? "evaluations " : "evaluation ") + ids + ": " + std::string(graph_kind_name(c.kind)) + ", " +
           std::to_string(c.n_tokens) + (c.n_tokens == 1 ? " token" : " tokens");
}

void summary(const PlanComparison& c, std::ostream& out) {
    Table table({{""}, {"recorded", Table::Align::right}, {"now", Table::Align::right}, {""}});
    const auto row = [&](const std::string& what, const std::string& before, const std::string& after) {
        table.row({what, before, after, before == after ? "" : "changed"});
    };
    std::set<std::string> backends, memory;
    for (const PlanFigures* f : {&c.recorded, &c.now}) {
        std::transform(f->nodes.begin(), f->nodes.end(), std::inserter(backends, backends.end()),
                       [](const auto& e) { return e.first; });
        std::transform(f->memory.begin(), f->memory.end(), std::inserter(memory, memory.end()),
                       [](const auto& e) { return e.first; });
    }
    const auto of = [](const std::map<std::string, int64_t>& values, const std::string& key) {
        const auto at = values.find(key);
        return at == values.end() ? int64_t{0} : at->second;
    };
    for (const std::string& b : backends) {
        row("nodes on " + b, std::to_string(of(c.recorded.nodes, b)), std::to_string(of(c.now.nodes, b)));
    }
    row("splits", std::to_string(c.recorded.splits), std::to_string(c.now.splits));
    row("copies", std::to_string(c.recorded.copies), std::to_string(c.now.copies));
    row("bytes moved", bytes_text(c.recorded.bytes_moved), bytes_text(c.now.bytes_moved));
    for (const std::string& m : memory) {
        row(m, bytes_text(of(c.recorded.memory, m)), bytes_text(of(c.now.memory, m)));
    }
    table.print(out);
    for (const auto& [when, figures] : {std::pair{"recorded", &c.recorded}, std::pair{"now", &c.now}}) {
        if (!figures->error.empty()) {
            out << "no plan " << when << ": " << figures->error << '\n';
        }
    }
}

/// A run of tensors to which the same happens.
struct Run {
    const TensorChange* first = nullptr;
    const TensorChange* last = nullptr;
    int64_t n = 0;
    std::set<Pass> passes;
    bool one_cause = true; ///< all of them by the same rules
};

bool goes_on(const Run& run, const TensorChange& c) {
    const TensorChange& f = *run.first;
    const bool moves = c.recorded_backend != c.now_backend;
    return c.is_node == f.is_node && c.recorded_backend == f.recorded_backend && c.now_backend == f.now_backend &&
           (moves || (c.recorded_cause == f.recorded_cause && c.now_cause == f.now_cause));
}

std::vector<Run> runs_of(const std::vector<TensorChange>& changes) {
    std::vector<Run> runs;
    for (const TensorChange& c : changes) {
        if (runs.empty() || !goes_on(runs.back(), c)) {
            runs.emplace_back().first = &c;
        }
        Run& run = runs.back();
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

void rows(const PlanComparison& c, std::ostream& out) {
    Table table({{"pass"}, {"tensor"}, {"tensors", Table::Align::right}, {"recorded"}, {"now"}});
    for (const Run& run : runs_of(c.changes)) {
        std::string passes;
        for (const Pass pass : run.passes) {
            passes += (passes.empty() ? "" : " ") + std::string(pass_name(pass));
        }
        table.row({passes, one_line(run.n == 1 ? run.first->name : run.first->name + " … " + run.last->name),
                   std::to_string(run.n), place(run.first->recorded_backend, run.first->recorded_cause, run.one_cause),
                   place(run.first->now_backend, run.first->now_cause, run.one_cause)});
    }
    table.print(out);
}

nlohmann::json figures_json(const PlanFigures& f) {
    return {{"nodes", f.nodes},   {"splits", f.splits},
            {"copies", f.copies}, {"bytes_moved", f.bytes_moved},
            {"memory", f.memory}, {"error", f.error.empty() ? nlohmann::json(nullptr) : nlohmann::json(f.error)}};
}

} // namespace

void what_if_text(const ReplayResult& result, std::ostream& out) {
    const std::vector<Told> all = folded(result);
    for (const Told& told : all) {
        out << title(told) << '\n';
        summary(*told.front(), out);
        out << '\n';
    }
    for (const Told& told : all) {
        const PlanComparison& c = *told.front();
        if (c.changes.empty()) {
            out << title(told) << ": no tensor changes\n";
            continue;
        }
        out << title(told) << ": " << c.changes.size() << (c.changes.size() == 1 ? " tensor changes" : " tensors change") << '\n';
        rows(c, out);
        out << '\n';
    }
    out << result.plans << (result.plans == 1 ? " plan" : " plans") << " made again: " << result.identical << " of "
        << result.compared << " decisions identical (--json lists the others)\n";
}

nlohmann::json what_if_summary(const ReplayResult& result) {
    nlohmann::json list = nlohmann::json::array();
    for (const Told& told : folded(result)) {
        nlohmann::json evals = nlohmann::json::array();
        for (const PlanComparison* c : told) {
            evals.push_back(c->evaluation);
        }
        const PlanComparison& c = *told.front();
        list.push_back({{"evals", std::move(evals)},
                        {"kind", graph_kind_name(c.kind)},
                        {"n_tokens", c.n_tokens},
                        {"recorded", figures_json(c.recorded)},
                        {"now", figures_json(c.now)}});
    }
    return list;
}

} // namespace schedscope
