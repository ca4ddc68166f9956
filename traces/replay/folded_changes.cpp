#include "traces/replay/folded_changes.h"

#include "runtime/system/joined.h"
#include "traces/history/words/fold_runs.h"
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

/// Of a plan in which no tensor changes, what else is decided otherwise is told.
bool otherwise_alike(const PlanComparison& a, const PlanComparison& b) {
    return !a.changes.empty() || (a.otherwise == b.otherwise && a.reordered == b.reordered);
}

bool alike(const PlanComparison& a, const PlanComparison& b) {
    return a.kind == b.kind && a.n_tokens == b.n_tokens && a.recorded == b.recorded && a.now == b.now &&
           a.stays_as_recorded == b.stays_as_recorded && a.flash_caveat == b.flash_caveat &&
           a.has_older_buffers == b.has_older_buffers && otherwise_alike(a, b) &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(), same_change);
}

bool goes_on(const TensorChange& first, const TensorChange& c) {
    const bool moves = c.recorded_backend != c.now_backend;
    return c.is_node == first.is_node && c.recorded_backend == first.recorded_backend && c.now_backend == first.now_backend &&
           (moves || (c.recorded_cause == first.recorded_cause && c.now_cause == first.now_cause));
}

std::string place(const std::string& backend, const std::string& cause, bool with_cause) {
    return with_cause && !backend.empty() && !cause.empty() ? backend + " by " + cause : backend;
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
    const std::vector<TensorChange>& changes = plan.changes;
    const std::vector<NameRun> runs =
        runs_of(changes.size(), [&](size_t first, size_t i) { return goes_on(changes[first], changes[i]); });
    std::vector<FoldedChange> of_runs;
    std::vector<std::string> said;
    for (const NameRun& run : runs) {
        const std::span<const TensorChange> these = std::span(changes).subspan(run.first, run.n);
        const TensorChange& first = these.front();
        const bool one_cause = std::all_of(these.begin(), these.end(), [&](const TensorChange& c) {
            return c.recorded_cause == first.recorded_cause && c.now_cause == first.now_cause;
        });
        std::set<Pass> passes;
        for (const TensorChange& c : these) {
            passes.insert(c.pass);
        }
        FoldedChange& row = of_runs.emplace_back();
        row.passes = joined(passes, " ", pass_name);
        row.recorded = place(first.recorded_backend, first.recorded_cause, one_cause);
        const bool stays = !first.now_backend.empty() && first.now_backend == first.recorded_backend;
        row.now = stays ? "stays, by " + first.now_cause : place(first.now_backend, first.now_cause, one_cause);
        said.push_back(joined({row.passes, "\n", row.recorded, "\n", row.now}));
    }
    std::vector<FoldedChange> rows;
    for (FoldedRuns& folded : fold_runs(
             runs, [&](size_t i) { return std::string_view(changes[i].name); }, said)) {
        FoldedChange& row = rows.emplace_back(of_runs[folded.run]);
        row.name = std::move(folded.name);
        row.members = std::move(folded.members);
    }
    return rows;
}

} // namespace schedscope
