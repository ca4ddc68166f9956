#pragma once

#include "runtime/tensor/tensor.h"

#include <deque>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope {

/// Owns tensors with stable addresses: weights of a model, a cache, or the tensors of one graph.
class TensorStore {
public:
    TensorStore() = default;
    TensorStore(const TensorStore&) = delete;
    TensorStore& operator=(const TensorStore&) = delete;

    /// A contiguous tensor without data. Throws Error(usage) when ne is not positive, overflows or does not divide into blocks.
    Tensor* make(Type type, const Shape& ne, std::string_view name = {});
    std::deque<Tensor>& tensors() noexcept { return tensors_; }
    const std::deque<Tensor>& tensors() const noexcept { return tensors_; }
    /// Keeps a text for its tensors, once for all that say the same.
    std::string_view keep(std::string text) { return *texts_.insert(std::move(text)).first; }

private:
    std::deque<Tensor> tensors_;
    std::set<std::string> texts_;
};

/// A computation: nodes in evaluation order and the leafs they use. Built by making tensors with ops.h and naming what is
/// wanted with `expand`. Leafs may belong to stores of their own (weights, caches), which must outlive the graph.
///
/// `expand(t)` walks t's sources depth first, source 0 first, and appends each tensor once: with an operator (or flagged
/// param) to the nodes, otherwise to the leafs. A tensor without a name is called `node_N` or `leaf_N`, N its index in its list.
/// This is ggml's order, on which names and split boundaries depend.
class Graph {
public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    TensorStore& store() noexcept { return store_; }
    /// A new tensor of this graph (no operator).
    Tensor* make(Type type, const Shape& ne, std::string_view name = {});
    /// A new input: flagged, to be filled before each evaluation.
    Tensor* input(Type type, const Shape& ne, std::string_view name = {});

    void expand(Tensor* t);

    std::span<Tensor* const> nodes() const noexcept { return nodes_; }
    std::span<Tensor* const> leafs() const noexcept { return leafs_; }

    /// Gives dense ids to all tensors of the graph: leafs, then nodes, in order, then tensors that are reachable only as a view
    /// source. Returns them by id. Tensors shared with other graphs (weights) keep the number of the graph that numbered last.
    std::span<Tensor* const> number();
    std::span<Tensor* const> tensors() const noexcept { return numbered_; }

private:
    friend class InPart;
    ModelPart part_;
    TensorStore store_;
    std::vector<Tensor*> nodes_;
    std::vector<Tensor*> leafs_;
    std::vector<Tensor*> numbered_;
    std::vector<const Tensor*> visited_; ///< open-addressed set of the tensors in the lists
    size_t n_visited_ = 0;
    bool visit(const Tensor* t);
};

/// As long as it lives, what a graph makes belongs to this part of the model. They may be nested.
class InPart {
public:
    InPart(Graph& graph, Role role, int32_t layer = -1) noexcept : graph_(graph), around_(graph.part_) {
        graph.part_ = {role, layer};
    }
    ~InPart() { graph_.part_ = around_; }
    InPart(const InPart&) = delete;
    InPart& operator=(const InPart&) = delete;

private:
    Graph& graph_;
    const ModelPart around_;
};

} // namespace schedscope
