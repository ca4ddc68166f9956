#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

#include <algorithm>
#include <cmath>

namespace schedscope::test {

namespace {

bool flash_attn(Operands& o) {
    const Elements& q = o.a();
    const Elements& k = o.b();
    const Elements& v = o.sources[2];
    const Elements& mask = o.sources[3];
    const double scale = o.number(0);
    const double cap = o.number(2);
    for (int64_t s = 0; s < q.ne[3]; ++s) {
        for (int64_t head = 0; head < q.ne[2]; ++head) {
            const int64_t kv_head = head / (q.ne[2] / k.ne[2]);
            const double slope = alibi_slope(o.number(1), head, q.ne[2]);
            for (int64_t token = 0; token < q.ne[1]; ++token) {
                std::vector<double> scores;
                for (int64_t j = 0; j < k.ne[1]; ++j) {
                    double score = dot(q, token, head, s, k, j, kv_head, s) * scale;
                    score = cap != 0 ? cap * std::tanh(score / cap) : score;
                    scores.push_back(score + (o.has(3) ? slope * mask.at(j, token, head % mask.ne[2], s % mask.ne[3]) : 0));
                }
                const double top = *std::max_element(scores.begin(), scores.end());
                if (std::all_of(scores.begin(), scores.end(),
                                [](double x) { return x == -HUGE_VAL; })) { // everything is masked: the result stays 0
                    continue;
                }
                double sum = 0;
                for (double& score : scores) {
                    score = std::exp(score - top);
                    sum += score;
                }
                for (int64_t i = 0; i < v.ne[0]; ++i) {
                    double value = 0;
                    for (int64_t j = 0; j < k.ne[1]; ++j) {
                        value += scores[static_cast<size_t>(j)] * v.at(i, j, kv_head, s);
                    }
                    o.result.at(i, head, token, s) = value / sum;
                }
            }
        }
    }
    return true;
}

bool evaluate_attention(Operands& o) {
    switch (o.node.op) {
    case Op::FLASH_ATTN_EXT: return flash_attn(o);
    default: return false;
    }
}

struct AttentionCase {
    std::string name;
    Type keys = Type::F16, values = Type::F16;
    int64_t d = 64, dv = 64, n_kv = 40, tokens = 3, heads = 4, kv_heads = 4, sequences = 1;
    bool masked = true;
    float max_bias = 0, cap = 0;
    int64_t stray_every = 0; ///< each so many-th element of the queries is no number; 0: none
};

Tensor* build(Graph& g, Leafs& l, const AttentionCase& a) {
    const Shape of_queries{a.d, a.heads, a.tokens, a.sequences};
    Tensor* queries =
        a.stray_every > 0 ? l.with_strays(of_queries, std::numeric_limits<float>::quiet_NaN(), a.stray_every) : l.f32(of_queries);
    // As models have them: heads beside each other in a token's row, then permuted.
    Tensor* q = ops::permute(g, queries, 0, 2, 1, 3);
    Tensor* k = ops::permute(g, l.floats(a.keys, {a.d, a.kv_heads, a.n_kv, a.sequences}), 0, 2, 1, 3);
    Tensor* v = ops::permute(g, l.floats(a.values, {a.dv, a.kv_heads, a.n_kv, a.sequences}), 0, 2, 1, 3);
    Tensor* mask = a.masked ? l.mask(Type::F16, {a.n_kv, a.tokens, 1, a.sequences}) : nullptr;
    return ops::flash_attn(g, q, k, v, mask, 0.3F, a.max_bias, a.cap);
}

void add_attention_cases(std::vector<OpCase>& cases) {
    std::vector<AttentionCase> all;
    const auto vary = [&](const std::string& name, auto change) {
        AttentionCase a;
        change(a);
        a.name = name;
        all.push_back(a);
    };
    vary("plain", [](AttentionCase&) {});
    for (const Type type : expandable_types()) {
        vary("cache " + std::string(type_name(type)), [=](AttentionCase& a) {
            a.keys = a.values = type;
            a.d = a.dv = traits(type).block > 64 ? 256 : 64;
            a.heads = 2;
            a.kv_heads = 1;
        });
    }
    vary("no number in some queries", [](AttentionCase& a) { a.stray_every = 150; });
    vary("no number in some queries, capped", [](AttentionCase& a) {
        a.stray_every = 100;
        a.cap = 1.5F;
    });
    vary("no number in a query of grouped heads", [](AttentionCase& a) {
        a.heads = 6;
        a.kv_heads = 2;
        a.n_kv = 333;
        a.stray_every = 500;
    });
    const std::vector<Type> cached = cached_types();
    for (size_t i = 0; i < cached.size(); ++i) { // each once as keys, once as values beside another
        const Type keys = cached[i], values = cached[(i + 1) % cached.size()];
        vary("keys " + std::string(type_name(keys)) + ", values " + std::string(type_name(values)), [=](AttentionCase& a) {
            a.keys = keys;
            a.values = values;
            a.d = 96;
            a.n_kv = 17;
        });
    }
    vary("no mask", [](AttentionCase& a) { a.masked = false; });
    vary("one token", [](AttentionCase& a) { a.tokens = 1; });
    vary("one key", [](AttentionCase& a) { a.n_kv = 1; });
    vary("many keys", [](AttentionCase& a) { a.n_kv = 333; });
    vary("grouped heads", [](AttentionCase& a) {
        a.heads = 6;
        a.kv_heads = 2;
    });
    vary("all heads share keys", [](AttentionCase& a) { a.kv_heads = 1; });
    vary("sequences", [](AttentionCase& a) { a.sequences = 3; });
    vary("capped", [](AttentionCase& a) { a.cap = 1.5F; });
    vary("biased", [](AttentionCase& a) { a.max_bias = 8; });
    vary("biased over 6 heads, capped", [](AttentionCase& a) {
        a.heads = a.kv_heads = 6;
        a.max_bias = 4;
        a.cap = 3;
    });
    vary("large", [](AttentionCase& a) {
        a.tokens = 40;
        a.n_kv = 256;
        a.kv_heads = 2;
    });
    for (const int64_t d : {32, 40, 80, 96, 128, 256}) {
        vary("heads of " + std::to_string(d), [=](AttentionCase& a) { a.d = a.dv = d; });
    }
    vary("values longer than keys", [](AttentionCase& a) { a.dv = 128; });
    vary("values shorter than keys", [](AttentionCase& a) { a.d = 96; });
    for (const AttentionCase& a : all) {
        cases.push_back({Op::FLASH_ATTN_EXT, a.name, [a](Graph& g, Leafs& l) { return build(g, l, a); }});
    }
    cases.push_back({Op::FLASH_ATTN_EXT, "mask per head, more rows than tokens", [](Graph& g, Leafs& l) {
                         Tensor* k = l.floats(Type::F16, {64, 40, 2, 2});
                         return ops::flash_attn(g, l.f32({64, 5, 2, 2}), k, l.floats(Type::F16, {64, 40, 2, 2}),
                                                l.mask(Type::F16, {40, 8, 2, 1}), 0.2F, 0, 0);
                     }});
    cases.push_back({Op::FLASH_ATTN_EXT, "everything masked", [](Graph& g, Leafs& l) {
                         Tensor* mask = l.floats(Type::F16, {40, 5, 1, 1}, -1e30F, -1e30F);
                         return ops::flash_attn(g, l.f32({64, 5, 2, 1}), l.floats(Type::F16, {64, 40, 2, 1}),
                                                l.floats(Type::F16, {64, 40, 2, 1}), mask, 0.2F, 0, 0);
                     }});
    cases.push_back({Op::FLASH_ATTN_EXT, "part of a cache", [](Graph& g, Leafs& l) {
                         const auto part = [&](Tensor* cache) {
                             return ops::view_4d(g, cache, 64, 32, 2, 1, cache->nb[1], 64 * 2, cache->nb[1] * 32,
                                                 4 * cache->nb[1]);
                         };
                         Tensor* q = ops::permute(g, l.f32({64, 4, 3, 1}), 0, 2, 1, 3);
                         Tensor* k = part(l.floats(Type::F16, {128, 48, 1, 1}));
                         return ops::flash_attn(g, q, k, part(l.floats(Type::F16, {128, 48, 1, 1})),
                                                l.mask(Type::F16, {32, 3, 1, 1}), 0.2F, 0, 0);
                     }});
}

} // namespace

const OpFamily attention_ops{evaluate_attention, add_attention_cases};

} // namespace schedscope::test
