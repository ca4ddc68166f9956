#include "viz/tables/nodes.h"

#include "viz/query/describer.h"

#include <algorithm>
#include <utility>

namespace schedscope::tables {

using query::Field;

std::vector<TensorId> tensors_in_order(const OwnedGraph& graph, const PlanState& state) {
    const size_t n_all = std::max(state.tensors.size(), graph.tensors.size());
    std::vector<TensorId> order;
    std::vector<bool> listed(n_all, false);
    const auto add = [&](TensorId id) {
        if (is_index(id, listed) && !listed[id]) {
            listed[id] = true;
            order.push_back(id);
        }
    };
    std::for_each(state.order.begin(), state.order.end(), add);
    std::for_each(graph.nodes.begin(), graph.nodes.end(), add);
    std::for_each(graph.leafs.begin(), graph.leafs.end(), add);
    for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
        add(id);
    }
    for (const record::CopyMade& copy : state.copies) {
        add(copy.copy);
    }
    return order;
}

std::string operator_word(const History& history, const PlanState& state, TensorId id) {
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr || id == no_tensor) {
        return {};
    }
    if (!is_index(id, graph->tensors)) {
        return "copy";
    }
    const TensorInfo& info = graph->tensors[id];
    return info.is_leaf() ? "leaf" : operator_text(info);
}

std::span<const NodesTable::Entry> NodesTable::entries() {
    using T = const NodesTable&;
    using R = const TensorId&;
    static const Entry list[] = {
        {{.key = "node",
          .title = "#",
          .help = "its place in the order in which nodes run",
          .unit = Unit::number,
          .width = 2,
          .tone = Tone::quiet},
         [](T t, R id) { return t.is_node(id) ? Cell(t.place_of(id)) : Cell(); }},
        {{.key = "id",
          .title = "id",
          .help = "the tensor's number in the graph",
          .unit = Unit::number,
          .width = 5,
          .from_width = 140,
          .tone = Tone::quiet},
         [](T, R id) -> Cell { return id; }},
        {{.key = "op", .help = "its operator's name in ggml"},
         [](T t, R id) {
             const TensorInfo& info = t.info(id);
             return t.is_copy(id) ? Cell("NONE") : info.op ? Cell(op_name(info)) : Cell::unknown();
         }},
        {{.key = "operation", .help = "what computes it: the function of a UNARY or GLU, else the operator"},
         [](T t, R id) {
             const TensorInfo& info = t.info(id);
             return t.is_copy(id) ? Cell(op_name(Op::NONE)) : info.op ? Cell(operator_text(info)) : Cell::unknown();
         }},
        {{.title = "op",
          .help = "the same; leaf: nothing computes it; copy: made by pass 5",
          .width = 9,
          .from_width = 40,
          .most = 15},
         [](T t, R id) {
             const std::string word = operator_word(t.history(), t.state(), id);
             return word == unknown_text ? Cell::unknown() : Cell(word).in(t.is_node(id) ? Tone::plain : Tone::quiet);
         }},
        {{.key = "name", .title = "name", .help = "the tensor's name"},
         [](T t, R id) { return !t.is_copy(id) && is_left_out(t.info(id)) ? Cell::nothing(query::left_out_name) : t.name(id); }},
        {{.key = "type", .title = "type", .help = "of its elements", .width = 5, .from_width = 66, .tone = Tone::quiet},
         [](T t, R id) { return t.info(id).type ? Cell(type_name(t.info(id))) : Cell::unknown(); }},
        {{.key = "ne",
          .title = "shape",
          .help = "its extents",
          .unit = Unit::shape,
          .width = 16,
          .from_width = 84,
          .most = 20,
          .tone = Tone::quiet},
         [](T t, R id) { return t.info(id).ne ? Cell::of_each(*t.info(id).ne) : Cell::unknown(); }},
        {{.key = "bytes",
          .title = "bytes",
          .help = "its size",
          .unit = Unit::bytes,
          .width = 9,
          .from_width = 112,
          .field = Field::bytes,
          .tone = Tone::quiet},
         [](T t, R id) { return Cell::known(t.info(id).bytes()); }},
        {{.key = "split",
          .title = "split",
          .help = "that it lies in",
          .unit = Unit::number,
          .width = 5,
          .from_width = 54,
          .field = Field::split,
          .tone = Tone::quiet},
         [](T t, R id) { return t.if_told(Topic::passes, Cell::from_zero(t.at(id).split)); }},
        {{.key = "time_ns",
          .title = "time",
          .help = "of the kernel that wrote it in this evaluation",
          .unit = Unit::time,
          .width = 8,
          .from_width = 120,
          .field = Field::time,
          .tone = Tone::quiet},
         [](T t, R id) { return t.if_told(Topic::runs, t.time_of(id)); }},
        {{.key = "was",
          .title = "was",
          .help = "the backend before the pass, or the step, that changed it",
          .unit = Unit::backend},
         [](T t, R id) {
             const std::optional<BackendId> was = t.was(id);
             return !was ? Cell() : *was == no_backend && t.knows(Topic::passes) ? Cell::nothing("none") : t.backend(*was);
         }},
        {{.key = "changed", .help = "by that pass or step"}, [](T t, R id) -> Cell { return t.was(id).has_value(); }},
        {{.key = "backend", .title = "backend", .help = "that it was put on", .unit = Unit::backend, .field = Field::backend},
         [](T t, R id) { return t.backend(t.at(id).backend); }},
        {{.key = "cause", .title = "by", .help = "the rule that put it there", .width = 6, .field = Field::cause},
         [](T t, R id) {
             const TensorState now = t.at(id);
             return now.cause ? t.if_told(Topic::passes, Cell::if_any(cause_name(*now.cause, now.source))) : Cell::unknown();
         }},
        {{.key = "by",
          .title = "because of",
          .help = "the tensor that the rule took the backend from",
          .width = 14,
          .from_width = 100,
          .most = 26,
          .field = Field::by,
          .tone = Tone::quiet},
         [](T t, R id) { return t.name(t.at(id).by); }},
    };
    return list;
}

NodesTable::NodesTable(History& history) : PlanTable("assignments", history) {}

void NodesTable::update(const PlanState& state, std::vector<TensorId> tensors, const accounts::ChangedTensors& changed) {
    look_at(state);
    when_empty_ = state.graph < 0 ? "nothing is planned at this step" : "nothing was assigned";
    graph_ = history().graph_of(state);
    rows_ = std::move(tensors);
    changed_ = changed;
    columns_[0].width = std::max(n_of(std::to_string(rows_.size())), 2);
    columns_[column_of(*this, "was")].from_width = changed.ids().empty() ? INT_MAX : 62;
    const size_t n_all = std::max(state.tensors.size(), graph_ == nullptr ? 0 : graph_->tensors.size());
    places_.assign(n_all, -1);
    for (int32_t row = 0; row < n_of(rows_); ++row) {
        places_[rows_[row]] = row;
    }
    if (graph_ != nullptr && told_of_ != state.graph) {
        told_of_ = state.graph;
        tells_all_ = std::none_of(graph_->tensors.begin(), graph_->tensors.end(), is_left_out);
    }
    untimed_ = history().untimed_kernels(state);
    find_kernels(n_all);
    make_room_for_untimed(!untimed_.empty());
}

void NodesTable::find_kernels(size_t n_tensors) {
    const std::vector<record::Execute>& timed = state().executed;
    kernels_.assign(timed.empty() && untimed_.empty() ? 0 : n_tensors, -1);
    int32_t at = 0;
    for (const auto* list : {&timed, &std::as_const(untimed_)}) {
        for (const record::Execute& e : *list) {
            if (is_index(e.last, kernels_)) {
                kernels_[e.last] = at;
            }
            ++at;
        }
    }
}

void NodesTable::update(const PlanState& state, const accounts::ChangedTensors& changed) {
    const OwnedGraph* graph = history().graph_of(state);
    update(state, graph == nullptr ? std::vector<TensorId>() : tensors_in_order(*graph, state), changed);
}

bool NodesTable::is_told(int row) const {
    return graph_ == nullptr || !is_index(rows_[row], graph_->tensors) || !is_left_out(graph_->tensors[rows_[row]]);
}

bool NodesTable::is_node(TensorId id) const {
    // Of a log's tensors it is not known which are leafs; its nodes come first.
    return !is_copy(id) && !info(id).is_leaf() && (graph_ == nullptr || place_of(id) < n_of(graph_->nodes));
}

Cell NodesTable::time_of(TensorId id) const {
    const int32_t at = is_index(id, kernels_) ? kernels_[id] : -1;
    if (at < 0) {
        return {};
    }
    const std::vector<record::Execute>& timed = state().executed;
    return is_index(at, timed) ? Cell(timed[at].end_ns - timed[at].start_ns) : Cell::nothing(not_timed_text);
}

} // namespace schedscope::tables
