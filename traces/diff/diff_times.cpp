// How long two traces took: kinds of evaluations, splits, kernels.

#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/time.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::diff {

namespace {

struct Spent {
    int64_t ns = 0, runs = 0;
    bool timed = true; ///< every run
};
/// What one trace spent.
struct TimesSpent {
    std::map<std::pair<std::string, std::string>, Spent> kernels; ///< by kernel and backend
    std::map<std::optional<GraphKind>, Spent> kinds;              ///< runs: tokens
};

void add_evaluation(const History& history, const SameDevices& devices, EvaluationId evaluation, std::optional<GraphKind> kind,
                    TimesSpent& times) {
    const EvaluationSpan span = history.evaluation(evaluation);
    const auto kernel = [&](StringId name, BackendId backend) -> Spent& {
        return times.kernels[{std::string(history.source().text(name)), devices.backend(history.backend_name(backend))}];
    };
    bool ran = false;
    history.source().for_each(span.first, span.end, [&](const Record& r) {
        if (const auto* f = std::get_if<record::Execute>(&r.fact)) {
            ran = true;
            Spent& spent = kernel(f->kernel, f->backend);
            spent.ns += f->end_ns - f->start_ns;
            ++spent.runs;
        } else if (const auto* run = std::get_if<record::SplitRun>(&r.fact)) {
            for (const KernelInfo& k : history.source().kernels(run->kernels)) {
                Spent& spent = kernel(k.kernel, run->backend);
                spent.timed = false;
                ++spent.runs;
            }
            ran = true;
        }
    });
    if (ran) {
        Spent& spent = times.kinds[kind];
        const int64_t took = accounts::time_extent(history.source(), span).time_ns();
        spent.ns += took;
        spent.timed = spent.timed && took > 0;
        spent.runs += span.begin.n_tokens.value_or(0);
    }
}

std::optional<int64_t> ns_of(const Spent* spent) {
    return spent == nullptr || !spent->timed ? std::nullopt : std::optional(spent->ns);
}

/// Calls `f(key, a's or null, b's or null)` for each key of either.
template <typename Map, typename F> void for_each_of_both(const Map& a, const Map& b, F&& f) {
    Map keys = a;
    keys.insert(b.begin(), b.end());
    for (const auto& [key, ignored] : keys) {
        const auto x = a.find(key), y = b.find(key);
        f(key, x == a.end() ? nullptr : &x->second, y == b.end() ? nullptr : &y->second);
    }
}

} // namespace

void add_split_times(const PlanPair& plans, Result& result) {
    const auto add = [&](const SplitState* x, const SplitState* y) {
        const auto ran = [](const SplitState* split) { return split != nullptr && split->ran != no_step; };
        if (!ran(x) && !ran(y)) {
            return;
        }
        const PlanSide& side = x != nullptr ? plans.a : plans.b;
        const SplitState& split = x != nullptr ? *x : *y;
        const TensorId start = side.start_of(split);
        const auto time = [](const SplitState* s) { return s == nullptr ? std::nullopt : s->time_ns(); };
        const auto index = [](const SplitState* s) { return s == nullptr ? std::nullopt : std::optional(s->begin.index); };
        result.times.push_back(
            {"split", start == no_tensor ? "split " + std::to_string(split.begin.index) : "split at " + side.name(start),
             side.backend(split.backend()), plans.a.state.evaluation, plans.b.state.evaluation, time(x), time(y), ran(x) ? 1 : 0,
             ran(y) ? 1 : 0, index(x), index(y)});
    };
    std::map<TensorId, const SplitState*> of_b;
    for (const SplitState& split : plans.b.state.splits) {
        of_b.emplace(plans.b.start_of(split), &split);
    }
    for (const SplitState& split : plans.a.state.splits) {
        const auto other = of_b.extract(plans.in_b(plans.a.start_of(split)));
        add(&split, other.empty() ? nullptr : other.mapped());
    }
    for (const SplitState& split : plans.b.state.splits) { // that a has none for
        if (const auto left = of_b.find(plans.b.start_of(split)); left != of_b.end() && left->second == &split) {
            add(nullptr, &split);
        }
    }
}

void add_times(History& a, History& b, const std::vector<EvaluationPair>& evaluations, Result& result) {
    TimesSpent times_a, times_b;
    const SameDevices devices(a.session(), b.session());
    for (const auto& [x, y] : evaluations) {
        const std::optional<GraphKind> kind = kind_of(a, b, {x, y});
        add_evaluation(a, {}, x, kind, times_a);
        add_evaluation(b, devices, y, kind, times_b);
    }
    std::vector<Time> rows;
    for_each_of_both(times_a.kinds, times_b.kinds, [&](std::optional<GraphKind> kind, const Spent* x, const Spent* y) {
        rows.push_back({"total", std::string(kind_text(kind)), "", -1, -1, ns_of(x), ns_of(y), x == nullptr ? 0 : x->runs,
                        y == nullptr ? 0 : y->runs});
        const auto per_token = [](const Spent* spent) {
            const std::optional<int64_t> ns = ns_of(spent);
            return ns && spent->runs > 0 ? std::optional(*ns / spent->runs) : std::nullopt;
        };
        for (DiffSummary& summary : result.summaries) {
            if (summary.kind == kind) {
                summary.measures.push_back(
                    {"time per token, mean of all pairs", Measure::Unit::time, per_token(x), per_token(y)});
            }
        }
    });
    const size_t n_totals = rows.size();
    for_each_of_both(times_a.kernels, times_b.kernels, [&](const auto& key, const Spent* x, const Spent* y) {
        rows.push_back({"kernel", key.first, key.second, -1, -1, ns_of(x), ns_of(y), x == nullptr ? 0 : x->runs,
                        y == nullptr ? 0 : y->runs});
    });
    std::stable_sort(rows.begin() + n_totals, rows.end(), [](const Time& x, const Time& y) {
        return std::max(x.a_ns.value_or(0), x.b_ns.value_or(0)) > std::max(y.a_ns.value_or(0), y.b_ns.value_or(0));
    });
    // Totals first, then splits, which are there already, then kernels.
    result.times.insert(result.times.begin(), rows.begin(), rows.begin() + n_totals);
    result.times.insert(result.times.end(), rows.begin() + n_totals, rows.end());
}

} // namespace schedscope::diff
