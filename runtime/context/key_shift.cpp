#include "runtime/context/key_shift.h"

#include "runtime/backend/buffer.h"
#include "runtime/model/blocks.h"
#include "runtime/scheduler/evaluation_record.h"

#include <cmath>

namespace schedscope {

namespace {

/// A turn by so many positions, without the change of length that comes with the first one.
RopeParams pure_turn(const RopeHparams& r) noexcept {
    RopeParams p = blocks::rope_params(r);
    p.attn_factor = p.ext_factor != 0 ? 1.0F / (1.0F + 0.1F * std::log(r.factor)) : 1.0F;
    return p;
}

/// The graph; returns its input, by how many positions each cell moves.
Tensor* build(Graph& g, const Model& model, const CacheView& cache, int32_t n_ctx) {
    const Hparams& h = model.hparams();
    Tensor* moved = g.input(Type::I32, {cache.n_cells, 1, 1, 1}, "k_shift");
    for (int32_t il = 0; il < h.n_layer; ++il) {
        const InPart part(g, Role::attention, il);
        Tensor* k = cache.layers[il].k;
        Tensor* heads = ops::view_3d(g, k, h.head_length_k, h.n_head_kv, cache.n_cells, row_bytes(k->type, h.head_length_k),
                                     row_bytes(k->type, h.n_embd_k()), 0);
        const RopeHparams& r = h.rope_of(il);
        Tensor* factors = blocks::rope_factors(model.weights().layers[il], r, n_ctx);
        Tensor* turned = ops::rope(g, ops::cast(g, heads, Type::F32), moved, factors, pure_turn(r));
        turned->name = "K_shifted-" + std::to_string(il);
        g.expand(ops::cpy(g, turned, heads));
    }
    return moved;
}

} // namespace

void shift_keys(const Model& model, const KvCache& cache, int32_t n_ctx, std::span<const int32_t> shifts, Scheduler& scheduler,
                EvaluationId evaluation) {
    Graph graph;
    Tensor* moved = build(graph, model, cache.view(cache.options().n_cells), n_ctx);
    record::EvaluationBegin begin;
    begin.kind = GraphKind::other;
    begin.planned_in = evaluation;
    record_evaluation_begin(scheduler, evaluation, begin, {});
    try {
        scheduler.plan(graph, same_with_any_attention);
        tensor_write(*moved, shifts.data(), 0, shifts.size_bytes());
        scheduler.compute();
    } catch (const std::exception& e) {
        scheduler.reset(); // the graph goes away
        record_evaluation_end(scheduler, e.what());
        throw;
    }
    scheduler.reset();
    record_evaluation_end(scheduler, nullptr);
}

} // namespace schedscope
