#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_cases.h"

#include <cmath>
#include <limits>

namespace schedscope::test {

namespace {

using Make = std::function<Tensor*(Graph&, Tensor*)>;

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all = {{1, 1, 1, 1},   {5, 3, 1, 1},    {32, 2, 2, 2},   {63, 1, 3, 1},
                                           {257, 4, 1, 2}, {1024, 3, 1, 1}, {5000, 1, 1, 1}, {768, 200, 1, 1}};
    return all;
}

/// Over row lengths and, where the operator takes them, views with gaps, permuted and transposed sources.
void add_over_shapes(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low = -2,
                     float high = 3) {
    for (const Shape& ne : shapes()) {
        cases.push_back(
            {op, prefix + shape_text(ne), [=](Graph& g, Leafs& l) { return make(g, l.floats(Type::F32, ne, low, high)); }});
    }
}

void add_over_layouts(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low = -2,
                      float high = 3) {
    cases.push_back(
        {op, prefix + "rows with gaps", [=](Graph& g, Leafs& l) {
             return make(g, ops::view_3d(g, l.floats(Type::F32, {80, 4, 3, 1}, low, high), 65, 2, 3, 2 * 320, 4 * 320, 20));
         }});
    cases.push_back({op, prefix + "permuted", [=](Graph& g, Leafs& l) {
                         return make(g, ops::permute(g, l.floats(Type::F32, {40, 3, 5, 1}, low, high), 0, 2, 1, 3));
                     }});
}

void add_transposed(std::vector<OpCase>& cases, Op op, const Make& make) {
    cases.push_back({op, "transposed", [=](Graph& g, Leafs& l) { return make(g, ops::transpose(g, l.f32({6, 70, 2, 1}))); }});
}

void add_norms(std::vector<OpCase>& cases) {
    using Norm = Tensor* (*)(Graph&, Tensor*, float);
    const std::pair<Op, Norm> norms[] = {{Op::NORM, ops::norm}, {Op::RMS_NORM, ops::rms_norm}, {Op::L2_NORM, ops::l2_norm}};
    for (const auto& [op, norm] : norms) {
        for (const float eps : {1e-6F, 0.1F}) {
            const Make make = [norm = norm, eps](Graph& g, Tensor* a) { return norm(g, a, eps); };
            const std::string prefix = eps < 0.01F ? "" : "large eps, ";
            add_over_shapes(cases, op, prefix, make);
            add_over_layouts(cases, op, prefix, make);
        }
        cases.push_back({op, "far from zero", [norm = norm](Graph& g, Leafs& l) {
                             return norm(g, l.floats(Type::F32, {512, 4, 1, 1}, 100, 101), 1e-5F);
                         }});
        cases.push_back({op, "smaller than eps", [norm = norm](Graph& g, Leafs& l) {
                             return norm(g, l.floats(Type::F32, {64, 4, 1, 1}, -1e-4F, 1e-4F), 1e-2F);
                         }});
    }
    for (const auto& [groups, channels] : {std::pair{1, 4}, {4, 4}, {2, 6}, {3, 8}, {32, 64}}) {
        cases.push_back({Op::GROUP_NORM, std::to_string(groups) + " groups of " + std::to_string(channels) + " channels",
                         [groups = groups, channels = channels](Graph& g, Leafs& l) {
                             return ops::group_norm(g, l.floats(Type::F32, {37, 49, channels, 2}, -1, 4), groups, 1e-5F);
                         }});
    }
}

void add_soft_max(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, auto build) { cases.push_back({Op::SOFT_MAX, name, build}); };
    for (const Shape& ne : shapes()) {
        add("no mask " + shape_text(ne),
            [=](Graph& g, Leafs& l) { return ops::soft_max(g, l.floats(Type::F32, ne, -8, 8), nullptr, 0.7F, 0); });
        for (const Type type : {Type::F32, Type::F16}) {
            add(std::string(type_name(type)) + " mask " + shape_text(ne), [=](Graph& g, Leafs& l) {
                return ops::soft_max(g, l.floats(Type::F32, ne, -8, 8), l.mask(type, {ne[0], ne[1], 1, 1}), 0.125F, 0);
            });
        }
    }
    add("mask per head", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({33, 5, 4, 3}), l.mask(Type::F32, {33, 5, 4, 1}), 1, 0);
    });
    add("mask per sequence", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({33, 5, 4, 3}), l.mask(Type::F16, {33, 5, 1, 3}), 1, 0);
    });
    add("mask repeated over heads", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({33, 5, 4, 2}), l.mask(Type::F16, {33, 5, 2, 1}), 1, 0);
    });
    add("mask with padding rows", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({40, 3, 2, 1}), l.mask(Type::F16, {40, 32, 1, 1}), 1, 0);
    });
    for (const int64_t heads : {1, 4, 6, 12}) {
        add("bias over " + std::to_string(heads) + " heads", [=](Graph& g, Leafs& l) {
            return ops::soft_max(g, l.f32({50, 3, heads, 2}), l.mask(Type::F16, {50, 3, 1, 1}), 0.5F, 8.0F);
        });
    }
    add("sinks", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({50, 3, 4, 2}), nullptr, 0.5F, 0, l.floats(Type::F32, {4, 1, 1, 1}, -2, 4));
    });
    add("sinks and mask", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({50, 3, 4, 2}), l.mask(Type::F32, {50, 3, 1, 1}), 0.5F, 0,
                             l.floats(Type::F32, {4, 1, 1, 1}, -2, 4));
    });
    add("large numbers", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.floats(Type::F32, {100, 4, 1, 1}, -2000, 2000), nullptr, 1, 0);
    });
    add("everything masked", [](Graph& g, Leafs& l) {
        return ops::soft_max(g, l.f32({40, 3, 1, 1}), l.floats(Type::F32, {40, 3, 1, 1}, -HUGE_VALF, -HUGE_VALF), 1, 0);
    });
}

void add_rope(std::vector<OpCase>& cases) {
    struct Variant {
        std::string name;
        ops::RopeParams params;
        bool factors;
    };
    std::vector<Variant> variants;
    for (const int mode : {0, 2}) {
        const std::string kind = mode == 0 ? "pairs" : "halves";
        ops::RopeParams p;
        p.n_dims = 64;
        p.mode = mode;
        variants.push_back({kind, p, false});
        variants.push_back({kind + " with factors", p, true});
        ops::RopeParams stretched = p;
        stretched.freq_base = 500000;
        stretched.freq_scale = 0.25F;
        variants.push_back({kind + " linearly stretched", stretched, false});
        ops::RopeParams yarn = stretched;
        yarn.ext_factor = 1;
        yarn.n_ctx_original = 4096;
        yarn.freq_base = 10000;
        variants.push_back({kind + " yarn", yarn, false});
        yarn.attn_factor = 0.8F;
        yarn.ext_factor = 0.6F;
        yarn.beta_fast = 16;
        yarn.beta_slow = 2;
        variants.push_back({kind + " yarn with factors", yarn, true});
        ops::RopeParams partial = p;
        partial.n_dims = 20;
        variants.push_back({kind + " of a part", partial, false});
    }
    for (const Variant& v : variants) {
        for (const Shape& ne : {Shape{64, 3, 5, 1}, Shape{80, 1, 1, 1}, Shape{64, 2, 7, 2}}) {
            cases.push_back({Op::ROPE, v.name + " " + shape_text(ne), [=](Graph& g, Leafs& l) {
                                 Tensor* a = l.f32(ne);
                                 Tensor* positions = l.ids({ne[2], 1, 1, 1}, 100);
                                 return ops::rope(g, a, positions,
                                                  v.factors ? l.floats(Type::F32, {v.params.n_dims / 2, 1, 1, 1}, 0.5F, 4)
                                                            : nullptr,
                                                  v.params);
                             }});
        }
        cases.push_back({Op::ROPE, v.name + " large", [=](Graph& g, Leafs& l) {
                             return ops::rope(g, l.f32({64, 16, 100, 1}), l.ids({100, 1, 1, 1}, 4000),
                                              v.factors ? l.floats(Type::F32, {32, 1, 1, 1}, 0.5F, 4) : nullptr, v.params);
                         }});
        cases.push_back({Op::ROPE, v.name + " part of a joint projection", [=](Graph& g, Leafs& l) {
                             Tensor* qkv = l.f32({64 * 6, 9, 1, 1});
                             Tensor* q = ops::view_3d(g, qkv, 64, 2, 9, 64 * 4, 64 * 6 * 4, 64 * 2 * 4);
                             return ops::rope(g, q, l.ids({9, 1, 1, 1}, 500),
                                              v.factors ? l.floats(Type::F32, {32, 1, 1, 1}, 0.5F, 4) : nullptr, v.params);
                         }});
        cases.push_back({Op::ROPE, v.name + " f16", [=](Graph& g, Leafs& l) {
                             return ops::rope(g, l.floats(Type::F16, {64, 3, 4, 1}), l.ids({4, 1, 1, 1}, 50),
                                              v.factors ? l.floats(Type::F32, {32, 1, 1, 1}, 0.5F, 4) : nullptr, v.params);
                         }});
    }
}

void add_sums(std::vector<OpCase>& cases) {
    using Reduce = Tensor* (*)(Graph&, Tensor*);
    const std::pair<Op, Reduce> sums[] = {
        {Op::SUM_ROWS, ops::sum_rows}, {Op::SUM, ops::sum}, {Op::MEAN, ops::mean}, {Op::CUMSUM, ops::cumsum}};
    for (const auto& [op, reduce] : sums) {
        add_over_shapes(cases, op, "", reduce);
        add_over_layouts(cases, op, "", reduce);
        add_transposed(cases, op, reduce);
    }
    for (const Shape& ne : {Shape{1, 1, 1, 1}, Shape{33, 7, 1, 1}, Shape{32000, 3, 1, 1}, Shape{1000, 500, 1, 1}}) {
        cases.push_back({Op::ARGMAX, shape_text(ne), [=](Graph& g, Leafs& l) { return ops::argmax(g, l.f32(ne)); }});
    }
    cases.push_back({Op::ARGMAX, "negative numbers", [](Graph& g, Leafs& l) {
                         return ops::argmax(g, l.floats(Type::F32, {70, 4, 1, 1}, -9, -8));
                     }});
    cases.push_back({Op::ARGMAX, "minus infinity", [](Graph& g, Leafs& l) {
                         return ops::argmax(g, l.mask(Type::F32, {500, 4, 1, 1}));
                     }});
    cases.push_back({Op::CUMSUM, "of a vocabulary's probabilities", [](Graph& g, Leafs& l) {
                         return ops::cumsum(g, ops::soft_max(g, l.floats(Type::F32, {50000, 1, 1, 1}, -9, 9), nullptr, 1, 0));
                     }});
    for (const float stray : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF}) {
        const std::string name = std::isnan(stray) ? "what is no number" : "infinity";
        cases.push_back({Op::SOFT_MAX, name + " in some rows", [=](Graph& g, Leafs& l) {
                             return ops::soft_max(g, l.with_strays({600, 4, 1, 1}, stray, 1100), nullptr, 1, 0);
                         }});
        cases.push_back(
            {Op::SOFT_MAX, name + " beside what is masked", [=](Graph& g, Leafs& l) {
                 return ops::soft_max(g, l.with_strays({5, 9, 2, 1}, stray, 3), l.mask(Type::F16, {5, 9, 1, 1}), 0.5F, 0);
             }});
    }
    cases.push_back({Op::SOFT_MAX, "no number alone among what is masked", [](Graph& g, Leafs& l) {
                         return ops::soft_max(g, l.with_strays({50, 2, 1, 1}, std::numeric_limits<float>::quiet_NaN(), 60),
                                              l.floats(Type::F32, {50, 2, 1, 1}, -HUGE_VALF, -HUGE_VALF), 1, 0);
                     }});
    cases.push_back({Op::SOFT_MAX, "minus infinity in the row itself", [](Graph& g, Leafs& l) {
                         return ops::soft_max(g, l.mask(Type::F32, {600, 2, 1, 1}), nullptr, 1, 0);
                     }});
    for (const bool descending : {false, true}) {
        cases.push_back({Op::ARGSORT,
                         std::string(descending ? "descending" : "ascending") + " with minus infinity and equal values",
                         [=](Graph& g, Leafs& l) {
                             return ops::argsort(g, l.mask(Type::F32, {400, 2, 1, 1}), descending);
                         }});
        for (const Shape& ne :
             {Shape{1, 1, 1, 1}, Shape{8, 5, 1, 1}, Shape{61, 3, 2, 2}, Shape{1024, 2, 1, 1}, Shape{128, 900, 1, 1}}) {
            cases.push_back({Op::ARGSORT, (descending ? "descending " : "ascending ") + shape_text(ne),
                             [=](Graph& g, Leafs& l) { return ops::argsort(g, l.f32(ne), descending); }});
        }
    }
    cases.push_back({Op::TOP_K, "with minus infinity and equal values", [](Graph& g, Leafs& l) {
                         return ops::top_k(g, l.mask(Type::F32, {3000, 2, 1, 1}), 2500);
                     }});
    for (const auto& [k, ne] : {std::pair{1, Shape{1, 1, 1, 1}},
                                {2, Shape{8, 33, 1, 1}},
                                {8, Shape{60, 5, 2, 1}},
                                {40, Shape{4000, 2, 1, 1}},
                                {7, Shape{7, 3, 1, 1}},
                                {100, Shape{300, 400, 1, 1}}}) {
        cases.push_back({Op::TOP_K, std::to_string(k) + " of " + shape_text(ne),
                         [k = k, ne = ne](Graph& g, Leafs& l) { return ops::top_k(g, l.f32(ne), k); }});
    }
}

} // namespace

void add_row_cases(std::vector<OpCase>& cases) {
    add_norms(cases);
    add_soft_max(cases);
    add_rope(cases);
    add_sums(cases);
}

} // namespace schedscope::test
