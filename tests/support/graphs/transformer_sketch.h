#pragma once

#include "runtime/planner/capability_table.h"
#include "runtime/planner/graph_view.h"
#include "runtime/planner/records.h"

namespace schedscope::test {

/// A transformer's graph as the planner sees it, without data: two backends (GPU0, CPU), weights and caches of the upper half of
/// the layers on GPU0.
struct TransformerSketch {
    OwnedGraph graph;
    SessionInfo session;
    CapabilityTable answers;
};

/// About 32 nodes a layer.
inline constexpr int nodes_per_layer = 32;

namespace detail {

class Builder {
public:
    explicit Builder(OwnedGraph& graph) : graph_(graph) {}

    TensorId leaf(const std::string& name, Shape ne, BufferTypeId type, BufferUsage usage, uint8_t flags = 0) {
        TensorInfo t = make(name, Op::NONE, ne);
        t.buffer_type = type;
        t.usage = usage;
        t.flags = flags;
        graph_.leafs.push_back(static_cast<TensorId>(graph_.tensors.size()));
        graph_.tensors.push_back(t);
        return graph_.leafs.back();
    }

    TensorId node(const std::string& name, Op op, Shape ne, std::initializer_list<TensorId> sources,
                  TensorId view_source = no_tensor) {
        TensorInfo t = make(name, op, ne);
        std::copy(sources.begin(), sources.end(), t.src.begin());
        t.view_source = view_source;
        graph_.nodes.push_back(static_cast<TensorId>(graph_.tensors.size()));
        graph_.tensors.push_back(t);
        return graph_.nodes.back();
    }

    TensorId view(const std::string& name, Op op, Shape ne, TensorId of) {
        const TensorId root = graph_.tensors[static_cast<size_t>(of)].view_source;
        return node(name, op, ne, {of}, root == no_tensor ? of : root);
    }

private:
    TensorInfo make(const std::string& name, Op op, Shape ne) {
        TensorInfo t;
        t.name = graph_.keep(name);
        t.op = op;
        t.ne = ne;
        t.nb = contiguous_strides(*t.type, ne);
        return t;
    }
    OwnedGraph& graph_;
};

inline TensorId add_layer(Builder& b, const std::string& suffix, TensorId x, TensorId positions, TensorId mask, TensorId cells,
                          BufferTypeId home) {
    constexpr int64_t width = 512, heads = 8, head = 64, tokens = 16, ffn = 1536, context = 256;
    const auto weight = [&](const char* name, Shape ne) { return b.leaf(name + suffix, ne, home, BufferUsage::weights); };
    const TensorId cache_k = b.leaf("cache_k" + suffix, {width, context, 1, 1}, home, BufferUsage::any);
    const TensorId cache_v = b.leaf("cache_v" + suffix, {width, context, 1, 1}, home, BufferUsage::any);

    TensorId h = b.node("norm" + suffix, Op::RMS_NORM, {width, tokens, 1, 1}, {x});
    h = b.node("attn_norm" + suffix, Op::MUL, {width, tokens, 1, 1}, {h, weight("attn_norm.w", {width, 1, 1, 1})});
    const auto project = [&](const char* name) {
        const TensorId y = b.node(name + suffix, Op::MUL_MAT, {width, tokens, 1, 1}, {weight(name, {width, width, 1, 1}), h});
        return b.view(std::string(name) + "r" + suffix, Op::RESHAPE, {head, heads, tokens, 1}, y);
    };
    TensorId q = b.node("q_rope" + suffix, Op::ROPE, {head, heads, tokens, 1}, {project("q"), positions});
    TensorId k = b.node("k_rope" + suffix, Op::ROPE, {head, heads, tokens, 1}, {project("k"), positions});
    TensorId v = project("v");
    k = b.view("k_flat" + suffix, Op::RESHAPE, {width, tokens, 1, 1}, k);
    b.node("k_store" + suffix, Op::SET_ROWS, {width, context, 1, 1}, {k, cells, cache_k}, cache_k);
    v = b.view("v_flat" + suffix, Op::RESHAPE, {width, tokens, 1, 1}, v);
    b.node("v_store" + suffix, Op::SET_ROWS, {width, context, 1, 1}, {v, cells, cache_v}, cache_v);
    q = b.view("q_perm" + suffix, Op::PERMUTE, {head, tokens, heads, 1}, q);
    k = b.view("k_view" + suffix, Op::VIEW, {head, heads, context, 1}, cache_k);
    k = b.view("k_perm" + suffix, Op::PERMUTE, {head, context, heads, 1}, k);
    v = b.view("v_view" + suffix, Op::VIEW, {context, head, heads, 1}, cache_v);
    TensorId kq = b.node("kq" + suffix, Op::MUL_MAT, {context, tokens, heads, 1}, {k, q});
    kq = b.node("kq_soft_max" + suffix, Op::SOFT_MAX, {context, tokens, heads, 1}, {kq, mask});
    TensorId o = b.node("kqv" + suffix, Op::MUL_MAT, {head, tokens, heads, 1}, {v, kq});
    o = b.view("kqv_perm" + suffix, Op::PERMUTE, {head, heads, tokens, 1}, o);
    o = b.node("kqv_out" + suffix, Op::CONT, {width, tokens, 1, 1}, {o});
    o = b.node("attn_out" + suffix, Op::MUL_MAT, {width, tokens, 1, 1}, {weight("o", {width, width, 1, 1}), o});
    x = b.node("ffn_inp" + suffix, Op::ADD, {width, tokens, 1, 1}, {o, x});
    h = b.node("norm2" + suffix, Op::RMS_NORM, {width, tokens, 1, 1}, {x});
    h = b.node("ffn_norm" + suffix, Op::MUL, {width, tokens, 1, 1}, {h, weight("ffn_norm.w", {width, 1, 1, 1})});
    const TensorId gate = b.node("ffn_gate" + suffix, Op::MUL_MAT, {ffn, tokens, 1, 1}, {weight("gate", {width, ffn, 1, 1}), h});
    const TensorId up = b.node("ffn_up" + suffix, Op::MUL_MAT, {ffn, tokens, 1, 1}, {weight("up", {width, ffn, 1, 1}), h});
    h = b.node("ffn_glu" + suffix, Op::GLU, {ffn, tokens, 1, 1}, {gate, up});
    h = b.node("ffn_out" + suffix, Op::MUL_MAT, {width, tokens, 1, 1}, {weight("down", {ffn, width, 1, 1}), h});
    return b.node("l_out" + suffix, Op::ADD, {width, tokens, 1, 1}, {h, x});
}

} // namespace detail

inline void sketch_transformer(int n_layers, TransformerSketch& out) {
    BufferTypeInfo gpu, cpu;
    gpu.name = "GPU0";
    cpu.name = "CPU";
    cpu.is_host = true;
    out.session.buffer_types = {gpu, cpu};
    for (const BufferTypeId type : {BufferTypeId{0}, BufferTypeId{1}}) {
        BackendInfo backend;
        backend.name = out.session.buffer_types[static_cast<size_t>(type)].name;
        backend.default_buffer_type = type;
        backend.supports_buffer_type = {type == 0, type == 1};
        out.session.backends.push_back(backend);
    }

    detail::Builder b(out.graph);
    const TensorId ids = b.leaf("ids", {16, 1, 1, 1}, no_buffer_type, BufferUsage::any, flag_input);
    const TensorId positions = b.leaf("positions", {16, 1, 1, 1}, no_buffer_type, BufferUsage::any, flag_input);
    const TensorId mask = b.leaf("mask", {256, 16, 1, 1}, no_buffer_type, BufferUsage::any, flag_input);
    const TensorId cells = b.leaf("cells", {16, 1, 1, 1}, no_buffer_type, BufferUsage::any, flag_input);
    const TensorId embeddings = b.leaf("token_embd", {512, 4096, 1, 1}, 1, BufferUsage::weights);
    TensorId x = b.node("embd", Op::GET_ROWS, {512, 16, 1, 1}, {embeddings, ids});
    for (int layer = 0; layer < n_layers; ++layer) {
        x = detail::add_layer(b, std::string("-").append(std::to_string(layer)), x, positions, mask, cells,
                              layer < n_layers / 2 ? 1 : 0);
    }
    const TensorId head = b.leaf("output", {512, 4096, 1, 1}, 0, BufferUsage::weights);
    const TensorId logits = b.node("logits", Op::MUL_MAT, {4096, 16, 1, 1}, {head, x});
    out.graph.tensors[static_cast<size_t>(logits)].flags = flag_output;

    const size_t n_tensors = out.graph.tensors.size();
    out.answers.session = &out.session;
    out.answers.n_tensors = static_cast<int32_t>(n_tensors);
    out.answers.op_answers.assign(2 * n_tensors, Answer{});
    out.answers.offload_answers.assign(2 * n_tensors, 0);
}

} // namespace schedscope::test
