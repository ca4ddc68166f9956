// One attention block as llama.cpp builds it: names and places as in a log of the reference with this model.
#include "runtime/tensor/ops.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

Tensor* named(Tensor* t, const char* name) {
    t->name = name;
    return t;
}

TEST(LlamaBlock, HasTheReferencesNamesAndPlaces) {
    TensorStore weights;
    Tensor* embedding = weights.make(Type::F32, {64, 512, 1, 1}, "token_embd.weight");
    Tensor* norm_w = weights.make(Type::F32, {64, 1, 1, 1}, "blk.0.attn_norm.weight");
    Tensor* q_w = weights.make(Type::F32, {64, 64, 1, 1}, "blk.0.attn_q.weight");
    Tensor* k_w = weights.make(Type::F32, {64, 32, 1, 1}, "blk.0.attn_k.weight");
    Tensor* v_w = weights.make(Type::F32, {64, 32, 1, 1}, "blk.0.attn_v.weight");
    Tensor* out_w = weights.make(Type::F32, {64, 64, 1, 1}, "blk.0.attn_output.weight");
    Tensor* cache_k = weights.make(Type::F16, {32, 256, 1, 1}, "cache_k_l0");
    Tensor* cache_v = weights.make(Type::F16, {32, 256, 1, 1}, "cache_v_l0");

    Graph g;
    constexpr int t = 16;
    Tensor* x = named(ops::get_rows(g, embedding, g.input(Type::I32, {t, 1, 1, 1}, "inp_tokens")), "embd");
    g.expand(x);
    g.expand(g.input(Type::F32, {64, t, 1, 1}, "inp_embd")); // the other way in, unused here
    Tensor* positions = g.input(Type::I32, {t, 1, 1, 1});
    Tensor* k_rows = g.input(Type::I64, {t, 1, 1, 1});
    Tensor* v_rows = g.input(Type::I64, {t, 1, 1, 1});
    Tensor* mask = g.input(Type::F16, {256, t, 1, 1}, "attn_inp_kq_mask");

    Tensor* norm = named(ops::rms_norm(g, x, 1e-5F), "norm-0");
    Tensor* cur = named(ops::mul(g, norm, norm_w), "attn_norm-0");
    Tensor* q = named(ops::mul_mat(g, q_w, cur), "Qcur-0");
    Tensor* k = named(ops::mul_mat(g, k_w, cur), "Kcur-0");
    Tensor* v = named(ops::mul_mat(g, v_w, cur), "Vcur-0");
    q = ops::reshape(g, q, {8, 8, t, 1});
    k = ops::reshape(g, k, {8, 4, t, 1});
    v = named(ops::reshape(g, v, {8, 4, t, 1}), "Vcur-0");
    const RopeParams rope{.n_dims = 8};
    q = named(ops::rope(g, q, positions, nullptr, rope), "Qcur-0");
    k = named(ops::rope(g, k, positions, nullptr, rope), "Kcur-0");
    for (Tensor* wanted : {q, v, k}) {
        g.expand(wanted);
    }
    const auto as_rows = [&g](Tensor* a) { return ops::view_2d(g, a, 32, t, a->nb[2], 0); };
    g.expand(ops::set_rows(g, cache_k, as_rows(k), k_rows));
    g.expand(ops::set_rows(g, cache_v, as_rows(v), v_rows));

    const auto cached = [&g](Tensor* c) { return ops::view_4d(g, c, 8, 4, 256, 1, 16, c->nb[1], c->nb[2], 0); };
    Tensor* qs = ops::permute(g, ops::view_4d(g, q, 8, 8, t, 1, q->nb[1], q->nb[2], q->nb[3], 0), 0, 2, 1, 3);
    Tensor* ks = ops::permute(g, cached(cache_k), 0, 2, 1, 3);
    Tensor* vs = ops::permute(g, cached(cache_v), 0, 2, 1, 3);
    Tensor* attention = ops::flash_attn(g, qs, ks, vs, mask, 0.35F, 0.0F, 0.0F);
    Tensor* flat = named(ops::reshape(g, attention, {64, t, 1, 1}), "kqv_out-0");
    g.expand(named(ops::mul_mat(g, out_w, flat), "attn_out-0"));

    const std::vector<std::string> nodes = {
        "embd",
        "norm-0",
        "attn_norm-0",
        "Qcur-0",
        "Qcur-0 (reshaped)",
        "Qcur-0",
        "Vcur-0",
        "Vcur-0",
        "Kcur-0",
        "Kcur-0 (reshaped)",
        "Kcur-0",
        "Kcur-0 (view)",
        "cache_k_l0 (view)",
        "Vcur-0 (view)",
        "cache_v_l0 (view)",
        "Qcur-0 (view)",
        "Qcur-0 (view) (permuted)",
        "cache_k_l0 (view)",
        "cache_k_l0 (view) (permuted)",
        "cache_v_l0 (view)",
        "cache_v_l0 (view) (permuted)",
        "node_21",
        "kqv_out-0",
        "attn_out-0",
    };
    const std::vector<std::string> leafs = {"token_embd.weight",
                                            "inp_tokens",
                                            "inp_embd",
                                            "blk.0.attn_q.weight",
                                            "blk.0.attn_norm.weight",
                                            "leaf_5",
                                            "blk.0.attn_v.weight",
                                            "blk.0.attn_k.weight",
                                            "leaf_8",
                                            "cache_k_l0",
                                            "leaf_10",
                                            "cache_v_l0",
                                            "blk.0.attn_output.weight",
                                            "attn_inp_kq_mask"};
    ASSERT_EQ(g.nodes().size(), nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_EQ(g.nodes()[i]->name, nodes[i]) << i;
    }
    ASSERT_EQ(g.leafs().size(), leafs.size());
    for (size_t i = 0; i < leafs.size(); ++i) {
        EXPECT_EQ(g.leafs()[i]->name, leafs[i]) << i;
    }
    EXPECT_EQ(attention->ne, (Shape{8, 8, t, 1}));
}

} // namespace
} // namespace schedscope
