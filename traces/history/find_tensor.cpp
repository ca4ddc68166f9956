#include "traces/history/find_tensor.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "runtime/system/read_number.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <iterator>

namespace schedscope {

namespace {

/// The number behind a sign, if that is all there is; −1: it isn't.
TensorId number_in(std::string_view digits) { return read_number<TensorId>(digits).value_or(-1); }

/// What the lists count: the nodes in the order in which they run.
std::span<const TensorId> nodes_of(const PlanState& state, const OwnedGraph& graph) {
    return state.order.empty() ? std::span(graph.nodes) : std::span(state.order);
}

} // namespace

std::vector<TensorId> find_tensors(const History& history, const PlanState& state, std::string_view name) {
    std::vector<TensorId> found;
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr || name.empty()) {
        return found;
    }
    for (size_t i = 0; i < graph->tensors.size(); ++i) {
        if (graph->tensors[i].name == name) {
            found.push_back(int_of(i));
        }
    }
    for (const record::CopyMade& copy : state.copies) {
        if (history.tensor_name(state, copy.copy) == name) {
            found.push_back(copy.copy);
        }
    }
    if (!found.empty()) {
        return found;
    }
    if (name.front() == '#') {
        const auto nodes = nodes_of(state, *graph);
        if (const TensorId n = number_in(name.substr(1)); is_index(n, nodes)) {
            found.push_back(nodes[n]);
        }
    } else if (const size_t at = name.rfind('@'); at != std::string_view::npos) {
        const TensorId id = number_in(name.substr(at + 1));
        if (is_index(id, state.tensors) && history.tensor_name(state, id) == name.substr(0, at)) {
            found.push_back(id);
        }
    }
    return found;
}

TensorId find_tensor(const History& history, const PlanState& state, std::string_view name) {
    const std::vector<TensorId> found = find_tensors(history, state, name);
    if (found.size() == 1) {
        return found.front();
    }
    const std::string asked = "tensor '" + std::string(name) + "'";
    const std::string where = "evaluation " + std::to_string(state.evaluation);
    if (!found.empty()) {
        const auto text_of = [&](TensorId id) {
            return with_id(name, id) + " (" + operator_text(history.tensor(state, id)) + ")";
        };
        throw Error(ErrorKind::usage, asked + ": " + where + " has " + std::to_string(found.size()) +
                                          " of that name; say which: " + joined(found, ", ", text_of));
    }
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        throw Error(ErrorKind::usage, asked + ": " + where + " planned no graph");
    }
    if (name.starts_with('#')) {
        throw Error(ErrorKind::usage,
                    asked + ": " + where + " has the nodes #0 to #" + std::to_string(nodes_of(state, *graph).size() - 1));
    }
    if (const std::vector<TensorId> named = find_tensors(history, state, name.substr(0, name.rfind('@'))); !named.empty()) {
        const auto text_of = [&](TensorId id) { return with_id(name.substr(0, name.rfind('@')), id); };
        throw Error(ErrorKind::usage,
                    asked + ": " + where + " has none of that number; there is " + joined(named, ", ", text_of));
    }
    std::vector<std::string_view> names;
    std::transform(graph->tensors.begin(), graph->tensors.end(), std::back_inserter(names),
                   [](const TensorInfo& t) { return std::string_view(t.name); });
    throw Error(ErrorKind::usage, asked + ": none in " + where + did_you_mean(names, name));
}

TensorId owner_of(const OwnedGraph& graph, TensorId tensor) {
    for (size_t i = 0; i < graph.tensors.size() && is_index(graph.tensors[tensor].view_source, graph.tensors); ++i) {
        tensor = graph.tensors[tensor].view_source;
    }
    return tensor;
}

} // namespace schedscope
