#include "traces/history/namesakes.h"

#include "runtime/ops/catalogue.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace schedscope {

namespace {

/// "on CPU by 1.wgt1", "unassigned"; "on ?": a log may leave out where.
std::string decision_of(const History& history, const TensorState& tensor) {
    const std::string cause = tensor.cause.value_or(Cause::none) == Cause::none ? "" : cause_name(*tensor.cause, tensor.source);
    const std::string where = tensor.backend != no_backend   ? "on " + history.backend_name(tensor.backend)
                              : history.knows(Topic::passes) ? "unassigned"
                                                             : std::string("on ") + unknown_text;
    return cause.empty() ? where : joined({where, " by ", cause});
}

bool computes(const History& history, const PlanState& state, TensorId id) {
    const std::optional<Op> op = history.tensor(state, id).op;
    return op && is_computed(*op);
}

/// All of a name, of which the one that is told is the others' first or among them.
Namesakes told_of(const History& history, const PlanState& state, std::vector<TensorId> all, TensorId told) {
    Namesakes found;
    found.told = told;
    found.n_computed = std::count_if(all.begin(), all.end(), [&](TensorId id) { return computes(history, state, id); });
    std::erase(all, told);
    found.others = std::move(all);
    return found;
}

/// ", the first that computes": why it is this one that is told.
std::string_view which_is_told(const History& history, const PlanState& state, const Namesakes& namesakes) {
    const bool computed = computes(history, state, namesakes.told);
    if (computed && namesakes.n_computed == 1) {
        return ", which computes it";
    }
    const auto is_before = [&](TensorId id) { return id < namesakes.told && (!computed || computes(history, state, id)); };
    return std::any_of(namesakes.others.begin(), namesakes.others.end(), is_before) ? ""
           : computed                                                               ? ", the first that computes"
           : namesakes.n_computed > 0                                               ? ""
                                                                                    : ", the first";
}

} // namespace

Namesakes find_namesakes(const History& history, const PlanState& state, std::string_view name) {
    std::vector<TensorId> all = find_tensors(history, state, name);
    if (all.empty()) {
        all.push_back(find_tensor(history, state, name)); // throws: it says what there is
    }
    const auto first = std::find_if(all.begin(), all.end(), [&](TensorId id) { return computes(history, state, id); });
    const TensorId told = first == all.end() ? all.front() : *first;
    return told_of(history, state, std::move(all), told);
}

Namesakes namesakes_of(const History& history, const PlanState& state, TensorId tensor) {
    return told_of(history, state, find_tensors(history, state, history.tensor_name(state, tensor)), tensor);
}

std::string namesakes_in_brief(const History& history, const PlanState& state, const Namesakes& namesakes) {
    constexpr std::ptrdiff_t most = 3; // are named
    if (namesakes.others.empty()) {
        return "";
    }
    const auto n = std::min(most, std::ssize(namesakes.others));
    const auto more = std::ssize(namesakes.others) - n;
    return joined(
        {history.unique_name(state, namesakes.told), which_is_told(history, state, namesakes), "; also ",
         joined(std::span(namesakes.others).first(n), ", ", [&](TensorId id) { return history.unique_name(state, id); }),
         more > 0 ? " and " + std::to_string(more) + " more" : ""});
}

std::vector<std::string> namesakes_in_words(const History& history, const PlanState& state, const Namesakes& namesakes) {
    constexpr std::ptrdiff_t most = 6; // are named of those that are alike
    if (namesakes.others.empty()) {
        return {};
    }
    std::vector<std::string> lines{
        joined({"told is ", history.unique_name(state, namesakes.told), which_is_told(history, state, namesakes), "; ",
                words::counted(namesakes.others.size(), "other"), ", each by NAME@ID:"})};
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
    const TensorState& told = state.tensors[namesakes.told];
    const std::string as_told = told.backend != no_backend || history.knows(Topic::passes) ? decision_of(history, told) : "";
    for (const std::string& decision : decisions) {
        const std::vector<TensorId>& ids = alike.at(decision);
        const auto n = std::min(most, std::ssize(ids));
        lines.push_back(joined({joined(std::vector(ids.begin(), ids.begin() + n), ", ", text_of),
                                n < std::ssize(ids) ? " and " + std::to_string(std::ssize(ids) - n) + " more" : "", " ", decision,
                                decision == as_told ? ", as this one" : ""}));
    }
    return lines;
}

} // namespace schedscope
