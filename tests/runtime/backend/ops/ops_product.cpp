#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

namespace schedscope::test {

namespace {

bool mul_mat(Operands& o) {
    const int64_t repeat_2 = o.b().ne[2] / o.a().ne[2];
    const int64_t repeat_3 = o.b().ne[3] / o.a().ne[3];
    o.for_each([&](int64_t m, int64_t n, int64_t i2, int64_t i3) {
        return dot(o.a(), m, i2 / repeat_2, i3 / repeat_3, o.b(), n, i2, i3);
    });
    return true;
}

bool mul_mat_id(Operands& o) {
    o.for_each([&](int64_t m, int64_t e, int64_t token, int64_t) {
        const auto expert = static_cast<int64_t>(o.sources[2].at(e, token, 0, 0));
        return dot(o.a(), m, expert, 0, o.b(), e % o.b().ne[1], token, 0);
    });
    return true;
}

bool evaluate_product(Operands& o) {
    switch (o.node.op) {
    case Op::MUL_MAT: return mul_mat(o);
    case Op::MUL_MAT_ID: return mul_mat_id(o);
    default: return false;
    }
}

struct ProductShape {
    const char* name;
    Shape a, b;
};

void add_mul_mat(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, auto build) { cases.push_back({Op::MUL_MAT, name, build}); };
    for (const Type type : expandable_types()) {
        const std::string prefix = std::string(type_name(type)) + " ";
        // One to many columns, row counts on both sides of every tile's height.
        for (const int64_t n : {1, 2, 3, 4, 5, 7, 16, 33}) {
            for (const int64_t m : {1, 6, 61}) {
                add(prefix + std::to_string(m) + " rows, " + std::to_string(n) + " columns", [=](Graph& g, Leafs& l) {
                    return ops::mul_mat(g, l.floats(type, {256, m, 1, 1}), l.f32({256, n, 1, 1}));
                });
            }
        }
        add(prefix + "long rows", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {4096, 5, 1, 1}), l.f32({4096, 6, 1, 1}));
        });
        add(prefix + "large", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {512, 130, 1, 1}), l.f32({512, 70, 1, 1}));
        });
        add(prefix + "large, one column", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {1024, 700, 1, 1}), l.f32({1024, 1, 1, 1}));
        });
        for (const ProductShape& s : {ProductShape{"heads in groups", {256, 5, 2, 1}, {256, 3, 6, 1}},
                                      ProductShape{"repeated over both", {256, 3, 2, 2}, {256, 9, 4, 6}},
                                      ProductShape{"many matrices", {256, 7, 3, 4}, {256, 6, 3, 4}}}) {
            add(prefix + s.name, [=](Graph& g, Leafs& l) { return ops::mul_mat(g, l.floats(type, s.a), l.f32(s.b)); });
        }
        add(prefix + "b permuted", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {256, 7, 2, 1}), ops::permute(g, l.f32({256, 4, 9, 1}), 0, 2, 1, 3));
        });
        add(prefix + "b f16", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {256, 7, 1, 1}), l.floats(Type::F16, {256, 6, 1, 1}));
        });
        add(prefix + "a a view of rows", [=](Graph& g, Leafs& l) {
            Tensor* all = l.floats(type, {512, 40, 1, 1});
            return ops::mul_mat(g, ops::view_2d(g, all, 256, 13, 2 * all->nb[1], all->nb[1] + row_bytes(type, 256)),
                                l.f32({256, 6, 1, 1}));
        });
    }
    for (const Type type : {Type::F32, Type::F16, Type::Q8_0, Type::Q4_K}) { // more columns than are kept near at once
        add(std::string(type_name(type)) + " long rows, many columns", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {4096, 61, 1, 1}), l.f32({4096, 130, 1, 1}));
        });
    }
    for (const Type type : {Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::Q5_0, Type::Q5_1, Type::IQ4_NL, Type::MXFP4}) {
        for (const int64_t k : {32, 96, 160}) {
            for (const int64_t n : {1, 9}) {
                add(std::string(type_name(type)) + " rows of " + std::to_string(k) + ", " + std::to_string(n) + " columns",
                    [=](Graph& g, Leafs& l) {
                        return ops::mul_mat(g, l.floats(type, {k, 11, 1, 1}), l.f32({k, n, 1, 1}));
                    });
            }
        }
    }
    // Attention: keys by heads out of a cache, values (below) transposed.
    for (const Type type : cached_types()) {
        for (const int64_t tokens : {1, 7, 40}) {
            add(std::string(type_name(type)) + " keys out of a cache, " + std::to_string(tokens), [=](Graph& g, Leafs& l) {
                Tensor* cache = l.floats(type, {64 * 2, 50, 1, 1});
                Tensor* k = ops::view_3d(g, cache, 64, 40, 2, cache->nb[1], row_bytes(type, 64), 0);
                return ops::mul_mat(g, k, ops::permute(g, l.f32({64, 6, tokens, 1}), 0, 2, 1, 3));
            });
        }
    }
    for (const Type type : {Type::F32, Type::F16, Type::BF16}) {
        const std::string prefix = std::string(type_name(type)) + " ";
        for (const int64_t k : {1, 2, 7, 15, 17, 31, 63, 65, 100, 255}) {
            for (const int64_t n : {1, 9}) {
                add(prefix + "rows of " + std::to_string(k) + ", " + std::to_string(n) + " columns", [=](Graph& g, Leafs& l) {
                    return ops::mul_mat(g, l.floats(type, {k, 13, 1, 1}), l.f32({k, n, 1, 1}));
                });
            }
        }
        add(prefix + "values out of a transposed cache", [=](Graph& g, Leafs& l) {
            Tensor* cache = l.floats(type, {50, 64 * 2, 1, 1});
            Tensor* v = ops::view_3d(g, cache, 40, 64, 2, cache->nb[1], 64 * cache->nb[1], 0);
            return ops::mul_mat(g, v, l.f32({40, 7, 6, 1}));
        });
        add(prefix + "b transposed", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {40, 7, 1, 1}), ops::transpose(g, l.f32({9, 40, 1, 1})));
        });
        add(prefix + "b a view with gaps", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {40, 7, 1, 1}), ops::view_2d(g, l.f32({60, 12, 1, 1}), 40, 6, 480, 32));
        });
        add(prefix + "b bf16", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {40, 7, 1, 1}), l.floats(Type::BF16, {40, 6, 1, 1}));
        });
        add(prefix + "three matrices in each of two", [=](Graph& g, Leafs& l) {
            return ops::mul_mat(g, l.floats(type, {200, 90, 1, 1}), l.f32({200, 11, 3, 2}));
        });
    }
}

void add_mul_mat_id(std::vector<OpCase>& cases) {
    for (const Type type : expandable_types()) {
        const std::string prefix = std::string(type_name(type)) + " ";
        const auto add = [&](const std::string& name, int64_t m, int64_t experts, int64_t used, int64_t rows_of_b,
                             int64_t tokens) {
            cases.push_back({Op::MUL_MAT_ID, prefix + name, [=](Graph& g, Leafs& l) {
                                 return ops::mul_mat_id(g, l.floats(type, {256, m, experts, 1}),
                                                        l.f32({256, rows_of_b, tokens, 1}),
                                                        l.distinct_ids({used, tokens, 1, 1}, experts));
                             }});
        };
        add("one token", 13, 4, 2, 1, 1);
        add("several tokens", 13, 4, 2, 1, 7);
        add("a row for each expert", 13, 4, 3, 3, 5);
        add("one expert", 5, 1, 1, 1, 3);
        add("large", 300, 8, 2, 1, 20);
        if (type == Type::F32 || type == Type::Q8_0) {
            add("many tokens for each expert", 70, 2, 1, 1, 600);
        }
        cases.push_back({Op::MUL_MAT_ID, prefix + "ids a view", [=](Graph& g, Leafs& l) {
                             Tensor* sorted = l.distinct_ids({4, 5, 1, 1}, 4);
                             return ops::mul_mat_id(g, l.floats(type, {256, 9, 4, 1}), l.f32({256, 1, 5, 1}),
                                                    ops::view_2d(g, sorted, 2, 5, sorted->nb[1], 0));
                         }});
    }
}

void add_product_cases(std::vector<OpCase>& cases) {
    add_mul_mat(cases);
    add_mul_mat_id(cases);
}

} // namespace

const OpFamily product_ops{evaluate_product, add_product_cases};

} // namespace schedscope::test
