// How long two traces took: kinds of evaluations, splits, kernels.

#include "traces/diff/diff_parts.h"
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
    int64_t first_ns = 0, last_ns = 0;
    bool ran = false;
    history.source().for_each(span.first, span.end, [&](const Record& r) {
        if (const auto* f = std::get_if<record::Execute>(&r.fact)) {
            Spent& spent = kernel(f->kernel, f->backend);
            spent.ns += f->end_ns - f->start_ns;
            ++spent.runs;
        } else if (const auto* run = std::get_if<record::SplitRun>(&r.fact)) {
            for (const KernelInfo& k : history.source().kernels(run->kernels)) {
                Spent& spent = kernel(k.kernel, run->backend);
                spent.timed = false;
                ++spent.runs;
            }
            if (run->start_ns && run->end_ns) {
                first_ns = ran ? std::min(first_ns, *run->start_ns) : *run->start_ns;
                last_ns = ran ? std::max(last_ns, *run->end_ns) : *run->end_ns;
                ran = true;
            }
        }
    });
    if (ran) {
        Spent& spent = times.kinds[kind];
        spent.ns += last_ns - first_ns;
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
    std::map<TensorId, const SplitState*> of_b;
    for (const SplitState& split : plans.b.state.splits) {
        of_b.emplace(plans.b.start_of(split), &split);
    }
    for (const SplitState& split : plans.a.state.splits) {
        const auto other = of_b.find(plans.in_b(plans.a.start_of(split)));
        const std::optional<int64_t> a_ns = split.time_ns(), b_ns = other == of_b.end() ? std::nullopt : other->second->time_ns();
        if (a_ns || b_ns) {
            result.times.push_back({"split", "split " + std::to_string(split.begin.index), plans.a.backend(split.backend()),
                                    plans.a.state.evaluation, plans.b.state.evaluation, a_ns, b_ns, a_ns ? 1 : 0, b_ns ? 1 : 0});
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
            return spent == nullptr || spent->runs == 0 ? std::nullopt : std::optional(spent->ns / spent->runs);
        };
        for (DiffSummary& summary : result.summaries) {
            if (summary.kind == kind) {
                summary.measures.push_back({"time per token", Measure::Unit::time, per_token(x), per_token(y)});
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
