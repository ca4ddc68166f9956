#pragma once

#include "traces/history/history.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/views.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace schedscope {

/// A plan made by hand: tensors with the backend they are to be on; `split_up` then cuts it wherever the backend changes and
/// makes the copies.
struct Sketch {
    SessionInfo session;
    OwnedGraph graph;
    PlanState state;
    std::deque<std::string> texts{""};

    explicit Sketch(std::vector<std::string> backends = {"Vulkan0", "CPU"}) {
        for (const std::string& name : backends) {
            BackendInfo info;
            info.name = info.device = name;
            info.kind = name == "CPU" ? "cpu" : name == "BLAS" ? "blas" : "gpu";
            info.default_buffer_type = static_cast<BufferTypeId>(session.buffer_types.size());
            session.backends.push_back(info);
            session.buffer_types.push_back({name, name == "CPU"});
        }
        state.graph = 0;
        state.step = 0;
    }

    StringId text(const std::string& of) {
        texts.push_back(of);
        return static_cast<StringId>(texts.size() - 1);
    }

    TensorId add(const std::string& name, Op op, Shape ne, BackendId backend, std::vector<TensorId> sources,
                 Cause cause = Cause::supported, TensorId by = no_tensor) {
        TensorInfo info;
        for (int64_t& n : ne) {
            n = std::max<int64_t>(n, 1); // unused dimensions may be left out
        }
        info.op = op;
        info.ne = ne;
        info.nb = contiguous_strides(*info.type, ne);
        info.name = graph.keep(name);
        for (size_t i = 0; i < sources.size(); ++i) {
            info.src[i] = sources[i];
        }
        const auto id = static_cast<TensorId>(graph.tensors.size());
        if (is_view_op(op)) {
            const TensorInfo& viewed = graph.tensors[static_cast<size_t>(sources[0])];
            info.view_source = viewed.is_view() ? viewed.view_source : sources[0];
        }
        graph.tensors.push_back(info);
        (op == Op::NONE ? graph.leafs : graph.nodes).push_back(id);
        TensorState now;
        now.backend = backend;
        now.cause = cause;
        now.source = cause == Cause::weight ? 0 : -1;
        now.by = by;
        state.tensors.push_back(now);
        if (op != Op::NONE) {
            state.order.push_back(id);
        }
        return id;
    }
    TensorId leaf(const std::string& name, Shape ne, BackendId backend, uint8_t flags = 0) {
        const TensorId id = add(name, Op::NONE, ne, backend, {}, (flags & flag_input) != 0 ? Cause::input : Cause::dst);
        graph.tensors.back().flags = flags;
        return id;
    }
    TensorId weight(const std::string& name, Shape ne, BackendId backend) {
        const TensorId id = leaf(name, ne, backend);
        graph.tensors.back().usage = BufferUsage::weights;
        return id;
    }

    void split_up() {
        std::map<std::pair<TensorId, BackendId>, TensorId> copies;
        const auto n_tensors = static_cast<int32_t>(graph.tensors.size());
        for (size_t i = 0; i < state.order.size(); ++i) {
            const TensorId node = state.order[i];
            const TensorInfo& info = graph.tensors[static_cast<size_t>(node)];
            const BackendId backend = state.tensors[static_cast<size_t>(node)].backend;
            if (is_view_op(*info.op)) {
                continue;
            }
            if (state.splits.empty() || state.splits.back().begin.backend != backend) {
                SplitState split;
                split.begin = {static_cast<int32_t>(state.splits.size()),
                               state.splits.empty() ? SplitReason::first : SplitReason::backend,
                               backend,
                               state.splits.empty() ? 0 : static_cast<int32_t>(i),
                               node,
                               no_tensor};
                if (!state.splits.empty()) {
                    state.splits.back().end_node = static_cast<int32_t>(i);
                }
                state.splits.push_back(split);
            }
            for (int32_t slot = 0; slot < max_sources; ++slot) {
                const TensorId source = info.src[static_cast<size_t>(slot)];
                if (source == no_tensor || state.tensors[static_cast<size_t>(source)].backend == backend) {
                    continue;
                }
                const TensorInfo& original = graph.tensors[static_cast<size_t>(source)];
                const int64_t bytes = *original.bytes();
                const auto [copy, is_new] =
                    copies.try_emplace({source, backend}, n_tensors + static_cast<int32_t>(copies.size()));
                if (is_new) {
                    SplitState& split = state.splits.back();
                    split.inputs.push_back(
                        {split.begin.index, source, node, state.tensors[static_cast<size_t>(source)].backend, bytes});
                    state.copies.push_back({copy->second, source, backend, 0, false, bytes});
                }
                state.rewires.push_back({node, slot, source, copy->second});
            }
        }
        if (!state.splits.empty()) {
            state.splits.back().end_node = static_cast<int32_t>(state.order.size());
        }
        for (const record::CopyMade& made : state.copies) {
            TensorState now;
            now.backend = made.backend;
            now.cause = Cause::copy;
            state.tensors.push_back(now);
        }
        state.planned = true;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const TensorInfo& tensor : graph.tensors) {
            all.emplace_back(tensor.name);
        }
        for (const record::CopyMade& made : state.copies) {
            all.push_back(session.backends[static_cast<size_t>(made.backend)].name + "#" + all[static_cast<size_t>(made.of)] +
                          "#" + std::to_string(*made.stage));
        }
        return all;
    }
    Subject subject() const {
        return {state,
                graph,
                session,
                names(),
                [this](StringId id) { return texts[static_cast<size_t>(id)]; },
                "evaluation 0 (prefill)"};
    }
};

/// A small llama: `on_gpu` of its blocks, the last ones, on backend 0, all else on the last backend.
inline Sketch llama(int n_blocks, int on_gpu, std::vector<std::string> backends = {"Vulkan0", "CPU"}) {
    Sketch s(std::move(backends));
    const auto cpu = static_cast<BackendId>(s.session.backends.size() - 1);
    s.session.facts = {{"model", "stories260K-f16.gguf"}, {"architecture", "llama"}};
    s.session.settings.emplace();
    s.session.settings->placement.n_gpu_layers = on_gpu;
    const TensorId tokens = s.leaf("inp_tokens", {16}, cpu, flag_input), positions = s.leaf("inp_pos", {16}, cpu, flag_input),
                   mask = s.leaf("KQ_mask", {32, 16, 1, 1}, cpu, flag_input), rows = s.leaf("k_idxs", {16}, cpu, flag_input);
    const auto b = [](int layer, const char* name) { return "blk." + std::to_string(layer) + "." + name + ".weight"; };
    const auto n = [](const char* name, int layer) { return std::string(name) + "-" + std::to_string(layer); };
    TensorId x =
        s.add("inp_embd", Op::GET_ROWS, {64, 16}, cpu, {s.weight("token_embd.weight", {64, 512}, cpu), tokens}, Cause::weight);
    for (int l = 0; l < n_blocks; ++l) {
        const BackendId on = l >= n_blocks - on_gpu ? BackendId{0} : cpu;
        const auto matmul = [&](const std::string& name, const char* weight, TensorId input, int64_t rows_out) {
            const TensorId w = s.weight(b(l, weight), {64, rows_out}, on);
            return s.add(name, Op::MUL_MAT, {rows_out, 16}, on, {w, input}, Cause::weight, w);
        };
        const TensorId cache_k = s.leaf("cache_k_l" + std::to_string(l), {64, 32}, on),
                       cache_v = s.leaf("cache_v_l" + std::to_string(l), {64, 32}, on);
        const TensorId norm = s.add(n("norm", l), Op::RMS_NORM, {64, 16}, on, {x});
        const TensorId attn_norm =
            s.add(n("attn_norm", l), Op::MUL, {64, 16}, on, {norm, s.weight(b(l, "attn_norm"), {64}, on)}, Cause::weight);
        const auto first_of_fusion = static_cast<int32_t>(s.state.order.size()) - 2;
        const TensorId q = matmul(n("Qcur", l), "attn_q", attn_norm, 64), k = matmul(n("Kcur", l), "attn_k", attn_norm, 32),
                       v = matmul(n("Vcur", l), "attn_v", attn_norm, 32);
        const TensorId q3 = s.add(n("Qcur", l) + " (reshaped)", Op::RESHAPE, {8, 8, 16}, on, {q}, Cause::source_view);
        const TensorId qr = s.add(n("Qcur", l), Op::ROPE, {8, 8, 16}, on, {q3, positions}, Cause::supported, q);
        const TensorId kr = s.add(n("Kcur", l), Op::ROPE, {8, 4, 16}, on, {k, positions}, Cause::supported, k);
        const TensorId kw = s.add(n("cache_k", l), Op::SET_ROWS, {64, 32}, on, {kr, rows, cache_k}, Cause::dst);
        const TensorId vw = s.add(n("cache_v", l), Op::SET_ROWS, {64, 32}, on, {v, rows, cache_v}, Cause::dst);
        (void)kw, (void)vw;
        const TensorId kv =
            s.add("cache_k_l" + std::to_string(l) + " (view)", Op::VIEW, {64, 32}, on, {cache_k}, Cause::source_view);
        const TensorId vv =
            s.add("cache_v_l" + std::to_string(l) + " (view)", Op::VIEW, {64, 32}, on, {cache_v}, Cause::source_view);
        const TensorId att = s.add(n("__fattn__", l), Op::FLASH_ATTN_EXT, {8, 8, 16}, cpu, {qr, kv, vv, mask}, Cause::best);
        const TensorId out = matmul(n("attn_out", l), "attn_output", att, 64);
        const TensorId inp = s.add(n("ffn_inp", l), Op::ADD, {64, 16}, on, {out, x});
        const TensorId fn = s.add(n("norm", l), Op::RMS_NORM, {64, 16}, on, {inp});
        const TensorId ffn =
            s.add(n("ffn_norm", l), Op::MUL, {64, 16}, on, {fn, s.weight(b(l, "ffn_norm"), {64}, on)}, Cause::weight);
        const TensorId gate = matmul(n("ffn_gate", l), "ffn_gate", ffn, 172), up = matmul(n("ffn_up", l), "ffn_up", ffn, 172);
        const TensorId glu = s.add(n("ffn_swiglu", l), Op::GLU, {172, 16}, on, {gate, up});
        x = s.add(n("l_out", l), Op::ADD, {64, 16}, on, {matmul(n("ffn_out", l), "ffn_down", glu, 64), inp});
        s.state.fusions.push_back({0, on, first_of_fusion, 2, s.text("rms_norm_mul")});
    }
    const TensorId norm = s.add("result_norm", Op::RMS_NORM, {64, 16}, on_gpu > 0 ? BackendId{0} : cpu, {x});
    s.add("result_output", Op::MUL_MAT, {512, 16}, on_gpu > 0 ? BackendId{0} : cpu,
          {s.weight("output.weight", {64, 512}, on_gpu > 0 ? BackendId{0} : cpu), norm}, Cause::weight);
    return s;
}

} // namespace schedscope
