#include "traces/history/find_tensor.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/read_number.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <numeric>

namespace schedscope {

namespace {

/// How many letters must be changed, added or dropped.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b.size(); ++k) {
            const size_t changed = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({row[k] + 1, row[k + 1] + 1, changed});
        }
    }
    return row.back();
}

std::string nearest_names(const OwnedGraph& graph, std::string_view name) {
    constexpr size_t shown = 3;
    const size_t farthest = std::max<size_t>(2, name.size() / 3);
    std::vector<std::pair<size_t, std::string_view>> near;
    for (const TensorInfo& t : graph.tensors) {
        const size_t far = distance(name, t.name);
        if (far <= farthest && std::none_of(near.begin(), near.end(), [&](const auto& n) { return n.second == t.name; })) {
            near.emplace_back(far, t.name);
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    const size_t n = std::min(shown, near.size());
    for (size_t i = 0; i < n; ++i) {
        text += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(near[i].second);
    }
    return text;
}

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
    const std::string near = nearest_names(*graph, name);
    throw Error(ErrorKind::usage, asked + ": none in " + where + (near.empty() ? "" : "; did you mean " + near + "?"));
}

} // namespace schedscope
