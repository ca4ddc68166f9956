#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"
#include "tests/runtime/backend/ops/op_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace schedscope::test {

namespace {

bool soft_max(Operands& o) {
    return by_row(o, [&](const Row& in, RowPlace p) {
        Row x = affine(in, o.number(0), 0);
        if (o.has(1)) {
            const double slope = alibi_slope(o.number(1), p.i2, o.a().ne[2]);
            const Elements& mask = o.b();
            for (size_t i = 0; i < x.size(); ++i) {
                x[i] += slope * mask.at(static_cast<int64_t>(i), p.i1, p.i2 % mask.ne[2], p.i3 % mask.ne[3]);
            }
        }
        double top = *std::max_element(x.begin(), x.end());
        const double sink = o.has(2) ? o.sources[2].values[static_cast<size_t>(p.i2)] : -HUGE_VAL;
        top = std::max(top, sink);
        const bool masked = std::all_of(x.begin(), x.end(), [](double v) { return v == -HUGE_VAL; });
        if (masked && sink == -HUGE_VAL) { // nothing gets a share
            return Row(x.size(), 0.0);
        }
        for (double& v : x) {
            v = std::exp(v - top);
        }
        return affine(x, 1 / (total(x) + std::exp(sink - top)), 0);
    });
}

/// The angle of one pair, and how long the turned pair becomes.
struct Turn {
    double angle, length;
};

Turn turn_of(const Operands& o, int64_t pair, double position) {
    const double n_dims = o.integer(1);
    const double base = o.number(5);
    const double freq_scale = o.number(6);
    const double extrapolated = o.number(7);
    const double factor = o.has(2) ? o.sources[2].values[static_cast<size_t>(pair)] : 1.0;
    const auto p = static_cast<double>(pair);
    const double angle = position / std::pow(base, 2 * p / n_dims) / factor;
    if (extrapolated == 0) {
        return {angle * freq_scale, o.number(8)};
    }
    // YaRN: pairs that turn often within the original context keep their angle, pairs that turn seldom are stretched.
    const auto pair_turning = [&](double turns) {
        return n_dims * std::log(o.integer(4) / (2 * std::numbers::pi * turns)) / (2 * std::log(base));
    };
    const double low = std::max(0.0, std::floor(pair_turning(o.number(9))));
    const double high = std::min(n_dims - 1, std::ceil(pair_turning(o.number(10))));
    const double kept = extrapolated * (1 - std::min(1.0, std::max(0.0, (p - low) / std::max(0.001, high - low))));
    return {angle * freq_scale * (1 - kept) + angle * kept, o.number(8) * (1 + 0.1 * std::log(1 / freq_scale))};
}

bool rope(Operands& o) {
    const auto n_dims = static_cast<size_t>(o.integer(1));
    const bool halves = o.integer(2) == 2;
    return by_row(o, [&](const Row& in, RowPlace place) {
        Row out = in;
        for (size_t pair = 0; pair < n_dims / 2; ++pair) {
            const size_t first = halves ? pair : 2 * pair;
            const size_t second = halves ? pair + n_dims / 2 : 2 * pair + 1;
            const Turn turn = turn_of(o, static_cast<int64_t>(pair), o.b().values[static_cast<size_t>(place.i2)]);
            out[first] = turn.length * (in[first] * std::cos(turn.angle) - in[second] * std::sin(turn.angle));
            out[second] = turn.length * (in[first] * std::sin(turn.angle) + in[second] * std::cos(turn.angle));
        }
        return out;
    });
}

bool evaluate_soft_max(Operands& o) {
    switch (o.node.op) {
    case Op::SOFT_MAX: return soft_max(o);
    case Op::ROPE: return rope(o);
    default: return false;
    }
}

void add_soft_max(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, auto build) { cases.push_back({Op::SOFT_MAX, name, build}); };
    for (const Shape& ne : row_shapes()) {
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
}

void add_rope(std::vector<OpCase>& cases) {
    struct Variant {
        std::string name;
        RopeParams params;
        bool factors;
    };
    std::vector<Variant> variants;
    for (const int mode : {0, 2}) {
        const std::string kind = mode == 0 ? "pairs" : "halves";
        RopeParams p;
        p.n_dims = 64;
        p.mode = mode;
        variants.push_back({kind, p, false});
        variants.push_back({kind + " with factors", p, true});
        RopeParams stretched = p;
        stretched.freq_base = 500000;
        stretched.freq_scale = 0.25F;
        variants.push_back({kind + " linearly stretched", stretched, false});
        RopeParams yarn = stretched;
        yarn.ext_factor = 1;
        yarn.n_ctx_original = 4096;
        yarn.freq_base = 10000;
        variants.push_back({kind + " yarn", yarn, false});
        yarn.attn_factor = 0.8F;
        yarn.ext_factor = 0.6F;
        yarn.beta_fast = 16;
        yarn.beta_slow = 2;
        variants.push_back({kind + " yarn with factors", yarn, true});
        RopeParams partial = p;
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

void add_soft_max_cases(std::vector<OpCase>& cases) {
    add_soft_max(cases);
    add_rope(cases);
}

} // namespace

const OpFamily soft_max_ops{evaluate_soft_max, add_soft_max_cases};

} // namespace schedscope::test
