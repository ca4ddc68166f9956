#include "inspector/cli/show/show_differences.h"

#include "inspector/cli/output/print_json.h"
#include "inspector/cli/output/table.h"
#include "traces/history/words/words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace schedscope::show {

namespace {

using nlohmann::json;

std::string real(double value) { return std::isnan(value) ? std::string("-") : words::number(value); }

/// "161 nodes compared, 2 beyond tolerance (the first: MUL_MAT kq-0 in evaluation 0), 3 skipped"
std::string sum_of(const std::vector<tables::DifferenceRow>& rows) {
    const auto n = [&](auto&& fits) { return std::count_if(rows.begin(), rows.end(), fits); };
    const auto beyond = [](const tables::DifferenceRow& r) { return r.difference.beyond; };
    const auto compared = n([](const tables::DifferenceRow& r) { return r.difference.compared; });
    std::string text = words::counted(compared, "node") + " compared, " + words::count(n(beyond)) + " beyond tolerance";
    if (const auto first = std::find_if(rows.begin(), rows.end(), beyond); first != rows.end()) {
        text += " (the first: " + first->op + " " + first->tensor + " in evaluation " + std::to_string(first->eval) + ")";
    }
    return text + ", " + words::count(rows.size() - compared) + " skipped";
}

} // namespace

void differences_text(History& history, const PlanState& state, std::ostream& out) {
    constexpr auto right = Table::Align::right;
    const std::vector<tables::DifferenceRow> rows = tables::differences(history, state);
    if (rows.empty()) {
        out << "no differences were recorded (schedscope verify -m M --device A,B --record T)\n";
        return;
    }
    Table table({{"eval", right},
                 {"tensor"},
                 {"id", right},
                 {"op"},
                 {"device"},
                 {"reference"},
                 {"nmse", right},
                 {"tolerance", right},
                 {"largest", right},
                 {"at"},
                 {"value", right},
                 {"expected", right},
                 {""}});
    for (const tables::DifferenceRow& r : rows) {
        const record::Difference& d = r.difference;
        const bool differs = d.element >= 0;
        table.row({std::to_string(r.eval), r.tensor, std::to_string(r.id), r.op, r.names.device, r.names.backend, real(d.nmse),
                   real(d.tolerance), real(d.max_error), differs ? words::place(d.element, r.ne) : "",
                   differs ? words::exact(d.value) : "", differs ? words::exact(d.expected) : "",
                   words::verdict(d) + (r.names.why.empty() ? "" : ": " + r.names.why)});
    }
    table.print(out);
    out << sum_of(rows) << '\n';
}

json differences_json(History& history, const PlanState& state) {
    json list = json::array();
    for (const tables::DifferenceRow& r : tables::differences(history, state)) {
        const record::Difference& d = r.difference;
        const bool differs = d.element >= 0;
        list.push_back({{"eval", r.eval},
                        {"tensor", r.tensor},
                        {"id", r.id},
                        {"op", or_null(r.op)},
                        {"device", r.names.device},
                        {"reference", r.names.backend},
                        {"compared", d.compared},
                        {"beyond", d.compared ? json(d.beyond) : json(nullptr)},
                        {"nmse", or_null(d.nmse)},
                        {"tolerance", or_null(d.tolerance)},
                        {"max_error", or_null(d.max_error)},
                        {"element", differs ? json(d.element) : json(nullptr)},
                        {"value", differs ? or_null(d.value) : json(nullptr)},
                        {"expected", differs ? or_null(d.expected) : json(nullptr)},
                        {"why", or_null(r.names.why)}});
    }
    return {{"differences", std::move(list)}};
}

} // namespace schedscope::show
