#pragma once

#include "runtime/model/model.h"
#include "runtime/tensor/ops.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace schedscope {

/// Of one block, as graphs use it.
struct CacheLayer {
    Tensor* k = nullptr; ///< [n_embd_k, cells]
    Tensor* v = nullptr; ///< [n_embd_v, cells]; transposed: the same memory with the cells of one value side by side
};

/// The KV cache as a graph sees it.
struct CacheView {
    std::span<const CacheLayer> layers;
    int64_t n_cells = 0; ///< in the cache
    int64_t n_kv = 0;    ///< the first of them, which the graph attends to
    bool v_transposed = false;
};

/// What a graph is built for. Two ubatches of one shape can share a graph.
struct UbatchShape {
    int32_t n_tokens = 1;
    int32_t n_outputs = 1;   ///< rows of logits; at least 1
    bool embeddings = false; ///< the input is rows of n_embd floats, not tokens
};

/// Settings that hold for all graphs of a context.
struct GraphSettings {
    bool flash_attention = false;
    int32_t n_ctx = 0; ///< context length per sequence
};

/// What must be filled before each evaluation, and what comes out. Null where the graph has none.
struct GraphTensors {
    Tensor* tokens = nullptr;         ///< I32 [n_tokens]
    Tensor* embeddings = nullptr;     ///< F32 [n_embd, n_tokens]
    Tensor* positions = nullptr;      ///< I32 [n_tokens]
    Tensor* k_rows = nullptr;         ///< I64 [n_tokens]: the cell of each token
    Tensor* v_rows = nullptr;         ///< I64 [n_tokens], or [n_tokens × n_embd_v] when transposed: the element of each value
    Tensor* mask = nullptr;           ///< F32, or F16 with flash attention, [n_kv, n_tokens]: 0 seen, −∞ not
    Tensor* sliding_k_rows = nullptr; ///< the same three for layers that slide
    Tensor* sliding_v_rows = nullptr;
    Tensor* sliding_mask = nullptr;
    Tensor* output_rows = nullptr; ///< I32 [n_outputs]: which tokens have logits
    Tensor* hidden = nullptr;      ///< F32 [n_embd, n_outputs]: after the last norm
    Tensor* logits = nullptr;      ///< F32 [n_vocab, n_outputs]
};

/// The state shared by the building blocks of one graph. Names and order are llama.cpp's (ggml programs show both to users, and
/// plans depend on the order), so blocks make their tensors in its order, name them with `name`, and say with InPart which part
/// of the model they belong to.
class GraphBuilder {
public:
    GraphBuilder(Graph& graph, const Model& model, const GraphSettings& settings, const UbatchShape& shape,
                 const CacheView& cache)
        : g(graph), model(model), h(model.hparams()), w(model.weights()), settings(settings), shape(shape), cache(cache) {}

    Graph& g;
    const Model& model;
    const Hparams& h;
    const Weights& w;
    const GraphSettings settings;
    const UbatchShape shape;
    const CacheView cache;
    GraphTensors io;

    /// Calls a tensor "WHAT-LAYER", or WHAT without a layer.
    static Tensor* name(Tensor* t, std::string_view what, int32_t layer = -1);
    /// Pins a node to the device that the policy says; to none where it says so. Its sources and its part of the model are
    /// settled.
    void pin(Tensor* t) const;
    const LayerWeights& layer(int32_t il) const noexcept { return w.layers[il]; }
    /// What a layer reads of `io`.
    Tensor* k_rows(int32_t il) const noexcept { return h.slides(il) ? io.sliding_k_rows : io.k_rows; }
    Tensor* v_rows(int32_t il) const noexcept { return h.slides(il) ? io.sliding_v_rows : io.v_rows; }
    Tensor* mask(int32_t il) const noexcept { return h.slides(il) ? io.sliding_mask : io.mask; }
    /// The last block: only rows with outputs go on.
    bool is_last(int32_t il) const noexcept { return il == h.n_layer - 1; }
};

} // namespace schedscope
