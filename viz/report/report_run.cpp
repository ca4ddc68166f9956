#include "traces/history/tables/tables.h"
#include "viz/report/report_parts.h"

namespace schedscope {

using nlohmann::json;

json report_run(History& history, EvaluationId evaluation, ReportTexts& texts) {
    const PlanState& state = history.plan(evaluation);
    const auto text = [&](StringId id) { return texts.number(history.source().text(id)); };
    json kernels = json::array(), transfers = json::array(), waits = json::array(), splits = json::array();
    for (const record::Execute& k : state.executed) {
        kernels.push_back({k.last, k.count, k.backend, text(k.kernel), k.start_ns, k.end_ns, k.bytes, k.flops, k.split});
    }
    for (const record::Transfer& t : state.transfers) {
        transfers.push_back({t.tensor, t.copy, t.from, t.to, t.bytes, t.start_ns, t.end_ns, t.experts, t.experts_total});
    }
    for (const record::Wait& w : state.waits) {
        waits.push_back({w.backend, w.start_ns, w.end_ns});
    }
    for (const SplitState& split : state.splits) {
        splits.push_back({split.start_ns, split.end_ns});
    }
    json differences = json::array();
    for (const tables::DifferenceRow& r : tables::differences(history, state)) {
        const record::Difference& d = r.difference;
        const bool differs = d.element >= 0;
        differences.push_back({r.id, texts.number(words::verdict(d)), d.nmse, d.tolerance, d.max_error,
                               texts.number(differs ? words::place(d.element, r.ne) : ""),
                               texts.number(differs ? words::exact(d.value) : ""),
                               texts.number(differs ? words::exact(d.expected) : ""), texts.number(r.names.device), d.backend,
                               texts.number(r.names.why)});
    }
    return {{"kernels", std::move(kernels)},
            {"differences", std::move(differences)},
            {"transfers", std::move(transfers)},
            {"waits", std::move(waits)},
            {"splits", std::move(splits)}};
}

} // namespace schedscope
