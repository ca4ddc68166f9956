#include "tests/support/traces/faces.h"

#include "traces/diff/diff.h"
#include "traces/export/export_jsonl.h"
#include "traces/export/export_perfetto.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/accounts/values.h"
#include "traces/history/describe.h"
#include "traces/history/explain.h"
#include "traces/history/history.h"
#include "traces/replay/replay.h"
#include "traces/replay/what_if.h"

#include <algorithm>
#include <sstream>

namespace schedscope::test {

namespace {

using Source = std::shared_ptr<const RecordSource>;

/// Every so many, and no more than some hundred of them.
int64_t stride(int64_t n, int64_t most) { return 1 + n / most; }

void records(const Source& source) {
    source->for_each(0, source->n_steps(), [](const Record&) {});
    source->count(every_fact);
    source->count_failed();
    for (GraphId g = 0; g < source->n_graphs(); ++g) {
        source->graph(g);
        source->answers(g);
    }
}

void states(const Source& source) {
    History history(source);
    const Step n = history.n_steps();
    for (Step s = 0; s < n; s += stride(n, 60)) {
        const PlanState& state = history.state_at(s);
        for (TensorId id = 0; static_cast<size_t>(id) < state.tensors.size(); id += 7) {
            history.unique_name(state, id);
        }
        describe(history, history.record(s));
    }
    for (Step s = n - 1; s >= 0; s -= stride(n, 40)) {
        history.state_at(s);
    }
}

void units(const Source& source) {
    History history(source);
    using Unit = History::Unit;
    for (const Unit unit : {Unit::sweep, Unit::pass, Unit::split, Unit::evaluation, Unit::token}) {
        for (const Step from : {Step{-1}, history.n_steps() / 2, history.n_steps() - 1}) {
            history.next(from, unit);
            history.previous(from, unit);
        }
    }
}

/// Of each evaluation that has records.
template <typename F> void for_each_plan(const Source& source, F&& f) {
    History history(source);
    const EvaluationId n = history.n_evaluations();
    for (EvaluationId e = 0; e < n; e += static_cast<EvaluationId>(stride(n, 20))) {
        try_it([&] { f(history, e, PlanState(history.plan(e))); });
    }
}

void plan_tables(const Source& source) {
    for_each_plan(source, [](History& history, EvaluationId e, const PlanState& state) {
        accounts::copies(history, state);
        accounts::passes(history, e);
    });
}

void memory_tables(const Source& source) {
    for_each_plan(source, [](History& history, EvaluationId, const PlanState& state) {
        accounts::memory(history, state);
        accounts::values(history, state);
        accounts::differences(history, state);
    });
}

void run_tables(const Source& source) {
    History history(source);
    accounts::tokens(history);
    accounts::summary(history);
}

void stories(const Source& source) {
    for_each_plan(source, [](History& history, EvaluationId e, const PlanState& state) {
        const auto n = static_cast<TensorId>(state.tensors.size());
        for (TensorId id = 0; id < n; id += static_cast<TensorId>(stride(n, 12))) {
            try_it([&] { explain(history, e, id); });
        }
    });
}

void json_lines(const Source& source) {
    std::ostringstream out;
    export_jsonl(*source, out);
}

void timeline(const Source& source) {
    std::ostringstream out;
    export_perfetto(source, out);
}

void planned_again(const Source& source) {
    try_it([&] { replay(*source); });
}

void what_ifs(const Source& source) {
    for (const char* setting : {"ngl=1", "stages=2", "op-offload=off", "offload-min-batch=1", "fa=on", "device-order=cpu",
                                "ot=norm=cpu", "ts=1,2", "nkvo=off", "fusion=off"}) {
        try_it([&] {
            WhatIf what_if;
            what_if.set(setting);
            ReplayOptions options = options_for(what_if, *source);
            replay(*source, options);
        });
    }
}

void compared(const Source& source) {
    History a(source), b(source);
    try_it([&] { diff::compare(a, b); });
}

constexpr Face faces[] = {{"records", records},
                          {"states", states},
                          {"units", units},
                          {"plan tables", plan_tables},
                          {"memory tables", memory_tables},
                          {"run tables", run_tables},
                          {"stories", stories},
                          {"json lines", json_lines},
                          {"timeline", timeline},
                          {"replay", planned_again},
                          {"what-if", what_ifs},
                          {"diff", compared}};

} // namespace

std::span<const Face> trace_faces() { return faces; }

} // namespace schedscope::test
