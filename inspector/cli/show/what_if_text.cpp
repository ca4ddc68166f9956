#include "inspector/cli/show/what_if_text.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/folded_changes.h"
#include "traces/replay/plan_change.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace schedscope {

namespace {

void summary(const PlanComparison& c, const SessionInfo& session, std::ostream& out) {
    TextTable table({{""}, {"recorded", TextTable::Align::right}, {"now", TextTable::Align::right}, {""}});
    for (const Measure& m : measures_of(c)) {
        const std::string before = m.text(m.a, "-"), after = m.text_of_b("-");
        table.row({m.name, before, after, before == after ? "" : "changed"});
    }
    table.print(out);
    TextTable memory({{""}, {"recorded"}, {"now"}});
    for (const MemoryFit& fit : memory_fits(c, session)) {
        memory.row({"memory of " + fit.backend, fit.text_of_recorded(), fit.text_of_now()});
    }
    memory.print(out);
    if (c.has_older_buffers) {
        OutputLine(out) << accounts::older_buffers_words;
    }
    if (!c.flash_caveat.empty()) {
        OutputLine(out) << c.flash_caveat;
    }
    for (const auto& [when, figures] : {std::pair{"recorded", &c.recorded}, std::pair{"now", &c.now}}) {
        if (!figures->error.empty()) {
            OutputLine(out) << "no plan " << when << ": " << figures->error;
        }
    }
}

/// "; decided otherwise: the order of nodes, 53 places in memory": beside where tensors are.
std::string decided(const PlanComparison& c) {
    std::string all = c.reordered ? "the order of nodes" : "";
    for (const auto& [what, n] : c.otherwise) {
        if (what == "assignment") {
            continue; // tensors that change
        }
        all += all.empty() ? "" : ", ";
        all += what == "placement"     ? words::counted(n, "place") + " in memory"
               : what == "graph_input" ? words::counted(n, "graph input")
                                       : words::counted(n, what);
    }
    return all.empty() ? "" : "; decided otherwise: " + all;
}

/// Of a plan that leaves each tensor where it was: "no tensor changes; compute buffer of CPU 65.8 KiB → 242 KiB; decided
/// otherwise: 1 buffer". What a buffer needs may come from a plan before.
std::string unmoved(const PlanComparison& c) {
    if (!c.stays_as_recorded.empty()) {
        return "stays as it was recorded; " + c.stays_as_recorded;
    }
    std::string changed;
    for (const Measure& m : measures_of(c)) {
        if (const std::string before = m.text(m.a, "-"), after = m.text_of_b("-"); before != after) {
            changed += changed.empty() ? "; " : ", ";
            changed.append(m.name).append(" ").append(before).append(" → ").append(after);
        }
    }
    changed += decided(c);
    return changed.empty() ? "nothing changes" : "no tensor changes" + changed;
}

void rows(const PlanComparison& c, std::ostream& out) {
    TextTable table({{"pass"}, {"tensor"}, {"tensors", TextTable::Align::right}, {"recorded"}, {"now"}});
    const auto side = [](const std::string& place) { return place.empty() ? not_there_text : place; };
    for (const FoldedChange& row : folded_changes(c)) {
        table.row({row.passes, row.name, std::to_string(row.members.size()), side(row.recorded), side(row.now)});
    }
    table.print(out);
}

nlohmann::json figures_json(const PlanFigures& f) {
    return {{"nodes", f.nodes},
            {"splits", f.splits},
            {"copies", f.copies},
            {"inputs", f.inputs},
            {"bytes_moved", f.bytes_moved},
            {"memory", f.memory},
            {"about", f.about},
            {"fused_groups", or_null(f.fused_groups)},
            {"error", or_null(f.error)}};
}

nlohmann::json fit_json(const PlanComparison& c, const SessionInfo& session) {
    using nlohmann::json;
    json list = json::array();
    for (const MemoryFit& fit : memory_fits(c, session)) {
        const auto side = [&](int64_t bytes) {
            return json{{"bytes", bytes}, {"fits", fit.memory > 0 ? json(fit.fits(bytes)) : json(nullptr)}};
        };
        list.push_back({{"backend", fit.backend},
                        {"memory_bytes", fit.memory > 0 ? json(fit.memory) : json(nullptr)},
                        {"recorded", fit.is_added ? json(nullptr) : side(fit.recorded)},
                        {"now", fit.is_removed ? json(nullptr) : side(fit.now)}});
    }
    return list;
}

} // namespace

void what_if_text(const ReplayResult& result, const SessionInfo& session, const std::vector<std::string>& why_unchanged,
                  std::ostream& out) {
    std::vector<AlikePlans> all = alike_plans(result);
    std::stable_partition(all.begin(), all.end(), // what ran comes first
                          [](const AlikePlans& told) { return told.front()->kind != GraphKind::reserve; });
    const auto moves_none = [](const PlanComparison& c) {
        return c.changes.empty() && c.recorded.error.empty() && c.now.error.empty() && c.flash_caveat.empty();
    };
    for (const AlikePlans& told : all) {
        if (moves_none(*told.front())) {
            OutputLine(out) << title_of(told) << ": " << unmoved(*told.front());
        } else {
            out << title_of(told) << '\n';
            summary(*told.front(), session, out);
        }
        out << '\n';
    }
    for (const AlikePlans& told : all) {
        const PlanComparison& c = *told.front();
        if (c.changes.empty()) {
            continue;
        }
        out << title_of(told) << ": " << words::counted(c.changes.size(), "tensor")
            << (c.changes.size() == 1 ? " changes" : " change") << decided(c) << '\n';
        rows(c, out);
        out << '\n';
    }
    for (const std::string& sentence : why_unchanged) {
        OutputLine(out) << sentence;
    }
    out << text_of(result) << (result.n_differences > 0 ? " (--json lists the others)" : "") << '\n';
}

nlohmann::json what_if_summary(const ReplayResult& result, const SessionInfo& session) {
    nlohmann::json list = nlohmann::json::array();
    for (const AlikePlans& told : alike_plans(result)) {
        nlohmann::json evals = nlohmann::json::array();
        for (const PlanComparison* c : told) {
            evals.push_back(c->evaluation);
        }
        const PlanComparison& c = *told.front();
        list.push_back({{"evals", std::move(evals)},
                        {"kind", c.kind ? nlohmann::json(graph_kind_name(*c.kind)) : nlohmann::json(nullptr)},
                        {"n_tokens", c.n_tokens ? nlohmann::json(*c.n_tokens) : nlohmann::json(nullptr)},
                        {"recorded", figures_json(c.recorded)},
                        {"now", figures_json(c.now)},
                        {"fit", fit_json(c, session)},
                        {"stays_as_recorded", or_null(c.stays_as_recorded)},
                        {"flash_caveat", or_null(c.flash_caveat)}});
    }
    return list;
}

} // namespace schedscope
