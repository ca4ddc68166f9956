#include "inspector/cli/show/diff_json.h"

#include "inspector/cli/output/print_json.h"
#include "runtime/numbers.h"

#include <nlohmann/json.hpp>

namespace schedscope {

namespace {

using nlohmann::json;

json id_or_null(int32_t id) { return id < 0 ? json(nullptr) : json(id); }

json value_json(const diff::DiffValue& value) {
    return std::visit(
        []<typename T>(const T& v) -> json {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else {
                return v;
            }
        },
        value);
}

json difference_json(const diff::TraceDifference& d) {
    json out{{"what", diff::what_name(d.what)},
             {"eval", id_or_null(d.eval_a)},
             {"eval_b", id_or_null(d.eval_b)},
             {"a", value_json(d.a)},
             {"b", value_json(d.b)}};
    if (d.id_a == no_tensor && d.id_b == no_tensor) {
        out["name"] = d.subject;
        if (!d.renamed.empty()) {
            out["name_b"] = d.renamed;
        }
    } else {
        out["tensor"] = d.subject;
        out["id_a"] = id_or_null(d.id_a);
        out["id_b"] = id_or_null(d.id_b);
        if (!d.renamed.empty()) {
            out["tensor_b"] = d.renamed;
        }
    }
    for (const auto& [name, value] : d.more) {
        out[name] = value_json(value);
    }
    return out;
}

json summary_json(const diff::DiffSummary& summary) {
    json measures = json::array();
    for (const Measure& m : summary.measures) {
        json measure{{"name", m.name}};
        for (const auto& [side, amount] : {std::pair{"a", &m.a}, {"b", &m.b}}) {
            const bool is_all = *amount && !(*amount)->at_least;
            measure[side] = is_all ? json((*amount)->n) : json(nullptr);
            if (*amount && !is_all) {
                measure[std::string(side) + "_at_least"] = (*amount)->n;
            } else if (*amount && (*amount)->rounding > 0) {
                measure[std::string(side) + "_rounding"] = (*amount)->rounding;
            }
        }
        measures.push_back(std::move(measure));
    }
    return {{"kind", summary.kind ? json(graph_kind_name(*summary.kind)) : json(nullptr)},
            {"eval", summary.eval_a},
            {"eval_b", summary.eval_b},
            {"measures", measures}};
}

json time_json(const diff::Time& t) {
    const bool both = t.a_ns && t.b_ns && *t.a_ns > 0;
    json out{{"what", t.what},
             {"name", t.name},
             {"backend", or_null(t.backend)},
             {"a_ns", or_null(t.a_ns)},
             {"b_ns", or_null(t.b_ns)},
             {"ratio", both ? json(to_double(*t.b_ns) / to_double(*t.a_ns)) : json(nullptr)}};
    if (t.what == "split") {
        out["eval"] = t.eval_a;
        out["eval_b"] = t.eval_b;
        out["index_a"] = or_null(t.a_index);
        out["index_b"] = or_null(t.b_index);
    } else {
        const char* unit = t.what == "total" ? "tokens" : "runs";
        out[std::string(unit) + "_a"] = t.a_runs;
        out[std::string(unit) + "_b"] = t.b_runs;
    }
    return out;
}

template <typename List, typename Make> json list(const List& rows, Make make) {
    json out = json::array();
    for (const auto& row : rows) {
        out.push_back(make(row));
    }
    return out;
}

} // namespace

json diff_json(const diff::Result& result) {
    return {{"identical", result.identical()},
            {"evaluations", result.evaluations},
            {"decisions", result.decisions},
            {"settings", list(result.settings,
                              [](const diff::Setting& s) {
                                  return json{{"name", s.name}, {"a", or_null(s.a)}, {"b", or_null(s.b)}};
                              })},
            {"summary", list(result.summaries, summary_json)},
            {"differences", list(result.differences, difference_json)},
            {"times", list(result.times, time_json)}};
}

} // namespace schedscope
