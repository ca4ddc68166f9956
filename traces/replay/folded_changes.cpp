#include "traces/replay/folded_changes.h"

#include "runtime/system/joined.h"
#include "traces/history/words/fold_names.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <set>
#include <span>

namespace schedscope {

namespace {

bool same_change(const TensorChange& a, const TensorChange& b) {
    return a.name == b.name && a.is_node == b.is_node && a.pass == b.pass && a.recorded_backend == b.recorded_backend &&
           a.now_backend == b.now_backend && a.recorded_cause == b.recorded_cause && a.now_cause == b.now_cause;
}

bool alike(const PlanComparison& a, const PlanComparison& b) {
    return a.kind == b.kind && a.n_tokens == b.n_tokens && a.recorded == b.recorded && a.now == b.now &&
           a.stays_as_recorded == b.stays_as_recorded &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(), same_change);
}

/// A run of tensors to which the same happens.
struct RunOfChanges {
    size_t first = 0, n = 0;
    std::set<Pass> passes;
    bool one_cause = true; ///< all of them by the same rules
};

bool goes_on(const TensorChange& first, const TensorChange& c) {
    const bool moves = c.recorded_backend != c.now_backend;
    return c.is_node == first.is_node && c.recorded_backend == first.recorded_backend && c.now_backend == first.now_backend &&
           (moves || (c.recorded_cause == first.recorded_cause && c.now_cause == first.now_cause));
}

std::vector<RunOfChanges> runs_of(const std::vector<TensorChange>& changes) {
    std::vector<RunOfChanges> runs;
    for (size_t i = 0; i < changes.size(); ++i) {
        const TensorChange& c = changes[i];
        if (runs.empty() || !goes_on(changes[runs.back().first], c)) {
            runs.emplace_back().first = i;
        }
        RunOfChanges& run = runs.back();
        const TensorChange& first = changes[run.first];
        ++run.n;
        run.one_cause = run.one_cause && c.recorded_cause == first.recorded_cause && c.now_cause == first.now_cause;
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

} // namespace

std::vector<AlikePlans> alike_plans(const ReplayResult& result) {
    std::vector<AlikePlans> all;
    for (const PlanComparison& c : result.comparisons) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const AlikePlans& told) { return alike(*told.front(), c); });
        (same != all.end() ? *same : all.emplace_back()).push_back(&c);
    }
    return all;
}

std::string title_of(const AlikePlans& plans) {
    constexpr size_t most = 8;
    std::string ids = joined(std::span(plans).first(std::min(plans.size(), most)), ", ",
                             [](const PlanComparison* c) { return std::to_string(c->evaluation); });
    ids += plans.size() > most ? " …" : "";
    const PlanComparison& c = *plans.front();
    return (plans.size() > 1 ? "evaluations " : "evaluation ") + ids + ": " + std::string(kind_text(c.kind)) +
           (c.n_tokens ? ", " + words::counted(*c.n_tokens, "token") : "");
}

std::vector<FoldedChange> folded_changes(const PlanComparison& plan) {
    struct Rows {
        std::vector<std::string> key;
        FoldedChange row;
        int64_t runs = 0;
    };
    std::vector<Rows> all;
    for (const RunOfChanges& run : runs_of(plan.changes)) {
        const TensorChange& first = plan.changes[run.first];
        const TensorChange& last = plan.changes[run.first + run.n - 1];
        FoldedChange row{first.name,
                         joined(run.passes, " ", pass_name),
                         place(first.recorded_backend, first.recorded_cause, run.one_cause),
                         place(first.now_backend, first.now_cause, run.one_cause),
                         {}};
        std::vector<std::string> key = {in_any_layer(first.name, first.name),
                                        in_any_layer(last.name, last.name),
                                        std::to_string(run.n),
                                        row.passes,
                                        row.recorded,
                                        row.now};
        if (run.n > 1) {
            row.name += " … " + last.name;
        }
        auto same = std::find_if(all.begin(), all.end(), [&](const Rows& r) { return r.key == key; });
        if (same == all.end()) {
            same = all.insert(all.end(), {std::move(key), std::move(row)});
        }
        ++same->runs;
        for (size_t i = 0; i < run.n; ++i) {
            same->row.members.push_back(run.first + i);
        }
    }
    std::vector<FoldedChange> rows;
    for (Rows& r : all) {
        if (r.runs > 1) {
            r.row.name += ", " + words::and_more(static_cast<size_t>(r.runs) - 1) + " alike";
        }
        rows.push_back(std::move(r.row));
    }
    return rows;
}

} // namespace schedscope
