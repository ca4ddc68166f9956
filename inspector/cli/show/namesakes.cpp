#include "inspector/cli/show/namesakes.h"

#include "inspector/cli/show/show.h"
#include "runtime/ops/catalogue.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/table_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace schedscope {

namespace {

using nlohmann::json;

/// "1.wgt1"; empty: none decided about it, or it is not known.
std::string cause_of(const TensorState& tensor) {
    return tensor.cause.value_or(Cause::none) == Cause::none ? "" : cause_name(*tensor.cause, tensor.source);
}

/// "on CPU by 1.wgt1".
std::string decision_of(const History& history, const TensorState& tensor) {
    const std::string cause = cause_of(tensor);
    return joined({tensor.backend == no_backend ? "unassigned" : "on ",
                   tensor.backend == no_backend ? "" : history.backend_name(tensor.backend), cause.empty() ? "" : " by ", cause});
}

} // namespace

Namesakes find_namesakes(const History& history, const PlanState& state, std::string_view name) {
    Namesakes found;
    found.others = find_tensors(history, state, name);
    if (found.others.empty()) {
        found.others.push_back(find_tensor(history, state, name)); // throws: it says what there is
    }
    const auto computes = [&](TensorId id) {
        const std::optional<Op> op = history.tensor(state, id).op;
        return op && is_computed(*op);
    };
    found.n_computed = std::count_if(found.others.begin(), found.others.end(), computes);
    const auto first = std::find_if(found.others.begin(), found.others.end(), computes);
    const auto told = first == found.others.end() ? found.others.begin() : first;
    found.told = *told;
    found.others.erase(told);
    return found;
}

std::vector<std::string> namesakes_in_words(const History& history, const PlanState& state, const Namesakes& namesakes) {
    constexpr std::ptrdiff_t most = 6; // are named of those that are alike
    if (namesakes.others.empty()) {
        return {};
    }
    std::vector<std::string> lines{joined({"told is ", history.unique_name(state, namesakes.told),
                                           namesakes.n_computed == 1  ? ", which computes it"
                                           : namesakes.n_computed > 1 ? ", the first that computes"
                                                                      : ", the first",
                                           "; ", words::counted(namesakes.others.size(), "other"), ", each by NAME@ID:"})};
    std::vector<std::string> decisions; // in the order in which they are met
    std::map<std::string, std::vector<TensorId>> alike;
    for (const TensorId id : namesakes.others) {
        const std::string decision = decision_of(history, state.tensors[id]);
        if (alike[decision].empty()) {
            decisions.push_back(decision);
        }
        alike[decision].push_back(id);
    }
    const auto text_of = [&](TensorId id) {
        return joined({history.unique_name(state, id), " (", operator_text(history.tensor(state, id)), ")"});
    };
    const std::string told = decision_of(history, state.tensors[namesakes.told]);
    for (const std::string& decision : decisions) {
        const std::vector<TensorId>& ids = alike.at(decision);
        const auto n = std::min(most, std::ssize(ids));
        lines.push_back(joined({joined(std::vector(ids.begin(), ids.begin() + n), ", ", text_of),
                                n < std::ssize(ids) ? " and " + std::to_string(std::ssize(ids) - n) + " more" : "", " ", decision,
                                decision == told ? ", as this one" : ""}));
    }
    return lines;
}

json namesakes_json(const History& history, const PlanState& state, const Namesakes& namesakes) {
    json list = json::array();
    for (const TensorId id : namesakes.others) {
        list.push_back({{"id", id},
                        {"op", or_null(operator_text(history.tensor(state, id)))},
                        {"backend", show::backend_json(history, state.tensors[id].backend)},
                        {"cause", or_null(cause_of(state.tensors[id]))}});
    }
    return list;
}

} // namespace schedscope
