#include "tests/runtime/backend/vulkan/fused_cases.h"

#include "runtime/tensor/ops.h"

#include <numeric>

namespace schedscope::test {

namespace {

constexpr float eps = 1e-5F;

void add_norms(std::vector<FusedCase>& cases) {
    const auto add = [&](bool rms, const std::string& name, const Shape& x, const Shape& weight, const Shape* bias) {
        const std::string_view kernel = rms               ? bias != nullptr ? "rms_norm_mul_add" : "rms_norm_mul"
                                        : bias != nullptr ? "norm_mul_add"
                                                          : "norm_mul";
        const Shape b = bias != nullptr ? *bias : Shape{};
        const bool biased = bias != nullptr;
        cases.push_back({kernel, {rms ? Op::RMS_NORM : Op::NORM, name, [=](Graph& g, Leafs& l) {
                                      Tensor* a = l.f32(x);
                                      Tensor* norm = rms ? ops::rms_norm(g, a, eps) : ops::norm(g, a, eps);
                                      Tensor* product = ops::mul(g, norm, l.f32(weight));
                                      return biased ? ops::add(g, product, l.f32(b)) : product;
                                  }}});
    };
    for (const bool rms : {true, false}) {
        for (const Shape& x : {Shape{64, 1, 1, 1}, Shape{33, 5, 1, 1}, Shape{1000, 3, 2, 2}, Shape{4096, 2, 1, 1}}) {
            const Shape row = {x[0], 1, 1, 1};
            add(rms, shape_text(x) + ", a row", x, row, nullptr);
            add(rms, shape_text(x) + ", rows", x, row, &row);
            add(rms, shape_text(x) + ", all", x, x, &x);
        }
        const Shape x = {48, 4, 3, 1}, per_token = {48, 1, 3, 1};
        add(rms, "a weight for each token", x, per_token, &x);
    }
    cases.push_back({"rms_norm_mul_add", {Op::RMS_NORM, "norm as the second factor, gaps between rows", [](Graph& g, Leafs& l) {
                                              Tensor* rows = ops::view_2d(g, l.f32({64, 5, 1, 1}), 32, 5, 256, 64);
                                              Tensor* product = ops::mul(g, l.f32({32, 5, 1, 1}), ops::rms_norm(g, rows, eps));
                                              return ops::add(g, l.f32({32, 5, 1, 1}), product);
                                          }}});
}

void add_chains(std::vector<FusedCase>& cases) {
    for (int n = 2; n <= 8; ++n) {
        for (const Shape& ne : {Shape{1, 1, 1, 1}, Shape{257, 3, 1, 1}, Shape{19, 3, 2, 2}}) {
            for (const bool row : {false, true}) {
                cases.push_back({"add_chain",
                                 {Op::ADD, std::to_string(n) + " of " + shape_text(ne) + (row ? ", a row last" : ""),
                                  [=](Graph& g, Leafs& l) {
                                      Tensor* sum = l.f32(ne);
                                      for (int i = 0; i < n; ++i) {
                                          sum = ops::add(g, sum, l.f32(row && i + 1 == n ? Shape{ne[0], 1, 1, 1} : ne));
                                      }
                                      return sum;
                                  }}});
            }
        }
    }
    cases.push_back({"add_chain", {Op::ADD, "slices of experts", [](Graph& g, Leafs& l) {
                                       Tensor* experts = l.f32({40, 6, 3, 1});
                                       const auto slice = [&](size_t i) {
                                           return ops::view_2d(g, experts, 40, 3, experts->nb[2], i * experts->nb[1]);
                                       };
                                       Tensor* sum = slice(0);
                                       for (size_t i = 1; i < 6; ++i) {
                                           sum = ops::add(g, sum, slice(i));
                                       }
                                       return sum;
                                   }}});
    cases.push_back({"add_chain", {Op::ADD, "the sum as the second source", [](Graph& g, Leafs& l) {
                                       Tensor* sum = ops::add(g, l.f32({70, 3, 1, 1}), l.f32({70, 1, 1, 1}));
                                       sum = ops::add(g, l.f32({70, 3, 1, 1}), sum);
                                       return ops::add(g, sum, l.f32({70, 1, 1, 1}));
                                   }}});
}

/// A product and what it is added to.
struct ProductCase {
    Type weights = Type::F32, columns = Type::F32;
    Shape a{}, b{};
    bool residual = false; ///< a term of the product's shape; otherwise a row
    bool term_first = false;
};

Tensor* sum_of(Graph& g, Leafs& l, const ProductCase& p) {
    Tensor* product = ops::mul_mat(g, l.floats(p.weights, p.a), l.floats(p.columns, p.b));
    Tensor* term = l.f32(p.residual ? product->ne : Shape{product->ne[0], 1, 1, 1});
    return p.term_first ? ops::add(g, term, product) : ops::add(g, product, term);
}

void add_products(std::vector<FusedCase>& cases) {
    const auto add = [&](const std::string& name, const ProductCase& p) {
        cases.push_back({"mul_mat_add", {Op::MUL_MAT, name, [=](Graph& g, Leafs& l) { return sum_of(g, l, p); }}, p.b[1]});
    };
    for (const Type type : shader_types()) {
        const int64_t k = 2 * std::max<int64_t>(traits(type).block, 32);
        const std::string name(type_name(type));
        for (const int64_t columns : {1, 3, 8, 17}) {
            add(name + " " + std::to_string(columns), {type, Type::F32, {k, 37, 1, 1}, {k, columns, 1, 1}, columns == 3, false});
        }
    }
    for (const Type type : {Type::F32, Type::F16, Type::BF16, Type::Q8_0, Type::Q4_0}) {
        add("f16 columns", {type, Type::F16, {96, 12, 1, 1}, {96, 2, 1, 1}, true, true});
    }
    add("odd rows", {Type::F32, Type::F32, {77, 131, 1, 1}, {77, 2, 1, 1}, true, true});
    add("odd half rows", {Type::F16, Type::F32, {75, 9, 1, 1}, {75, 5, 1, 1}, false, false});
    add("square, the term alike", {Type::F16, Type::F32, {64, 64, 1, 1}, {64, 2, 1, 1}, true, true});
    add("one row", {Type::F16, Type::F32, {128, 1, 1, 1}, {128, 1, 1, 1}, false, false});
    add("matrices repeated", {Type::F16, Type::F32, {64, 21, 2, 1}, {64, 3, 4, 3}, true, false});
    add("matrices repeated, one bias", {Type::F32, Type::F32, {64, 21, 2, 3}, {64, 2, 4, 3}, false, false});
    for (int32_t f = 0; f < static_cast<int32_t>(UnaryOp::count); ++f) {
        const auto function = static_cast<UnaryOp>(f);
        if (function == UnaryOp::XIELU) { // has parameters
            continue;
        }
        cases.push_back({"mul_mat_add_act",
                         {Op::MUL_MAT, std::string(unary_name(function)),
                          [=](Graph& g, Leafs& l) {
                              const ProductCase p{Type::F16, Type::F32, {64, 40, 1, 1}, {64, 2, 1, 1}, false, false};
                              return ops::unary(g, sum_of(g, l, p), function);
                          }},
                         2});
    }
    cases.push_back(
        {"mul_mat_add_act", {Op::MUL_MAT, "q4_K, gelu", [](Graph& g, Leafs& l) {
                                 const ProductCase p{Type::Q4_K, Type::F32, {512, 70, 1, 1}, {512, 1, 1, 1}, true, true};
                                 return ops::unary(g, sum_of(g, l, p), UnaryOp::GELU);
                             }}});
}

void add_gates(std::vector<FusedCase>& cases) {
    const auto add = [&](const std::string& name, Type type, const Shape& w, const Shape& b, GluOp op) {
        cases.push_back({"gate_up",
                         {Op::MUL_MAT, name + " " + std::string(glu_name(op)),
                          [=](Graph& g, Leafs& l) {
                              Tensor* x = l.f32(b);
                              Tensor* gate = ops::mul_mat(g, l.floats(type, w), x);
                              return ops::glu(g, gate, ops::mul_mat(g, l.floats(type, w), x), op);
                          }},
                         b[1]});
    };
    for (const Type type : shader_types()) {
        const int64_t k = 2 * std::max<int64_t>(traits(type).block, 32);
        for (const int64_t columns : {1, 3, 8, 17}) {
            add(std::string(type_name(type)) + " " + std::to_string(columns), type, {k, 37, 1, 1}, {k, columns, 1, 1},
                GluOp::SWIGLU);
        }
    }
    for (const GluOp op : {GluOp::REGLU, GluOp::GEGLU, GluOp::GEGLU_ERF, GluOp::GEGLU_QUICK}) {
        add("odd rows", Type::F32, {77, 131, 1, 1}, {77, 2, 1, 1}, op);
    }
    add("matrices repeated", Type::F16, {64, 21, 2, 1}, {64, 3, 4, 3}, GluOp::SWIGLU);
    add("square", Type::F16, {64, 64, 1, 1}, {64, 2, 1, 1}, GluOp::SWIGLU);
    for (const bool activated_first : {true, false}) {
        cases.push_back({"gate_up",
                         {Op::MUL_MAT, activated_first ? "silu × up" : "up × silu",
                          [=](Graph& g, Leafs& l) {
                              Tensor* x = l.f32({256, 3, 1, 1});
                              Tensor* gate = ops::mul_mat(g, l.floats(Type::Q5_K, {256, 41, 1, 1}), x);
                              Tensor* up = ops::mul_mat(g, l.floats(Type::Q5_K, {256, 41, 1, 1}), x);
                              Tensor* activated = ops::unary(g, gate, UnaryOp::SILU);
                              return activated_first ? ops::mul(g, activated, up) : ops::mul(g, up, activated);
                          }},
                         3});
    }
}

void add_ropes(std::vector<FusedCase>& cases) {
    struct Rope {
        std::string name;
        Shape a; ///< head, heads, tokens
        RopeParams rope;
        bool factors = false;
        Type id = Type::I64;
    };
    RopeParams adjacent, halves, part, stretched;
    adjacent.n_dims = 64;
    halves.n_dims = 96;
    halves.mode = 2;
    part.n_dims = 40;
    part.mode = 2;
    stretched.n_dims = 64;
    stretched.n_ctx_original = 128;
    stretched.freq_scale = 0.25F;
    stretched.ext_factor = 1.0F;
    for (const Rope& r : {Rope{"a token", {64, 4, 1, 1}, adjacent}, Rope{"tokens", {64, 5, 7, 1}, adjacent, false, Type::I32},
                          Rope{"halves", {96, 3, 11, 1}, halves}, Rope{"a part of a head, factors", {64, 2, 3, 1}, part, true},
                          Rope{"YaRN, many heads", {64, 33, 2, 1}, stretched}}) {
        for (const Type type : cached_types()) {
            cases.push_back(
                {"rope_set_rows",
                 {Op::ROPE, r.name + " as " + std::string(type_name(type)), [=](Graph& g, Leafs& l) {
                      const int64_t tokens = r.a[2], row = r.a[0] * r.a[1];
                      Tensor* factors = r.factors ? l.floats(Type::F32, {r.rope.n_dims / 2, 1, 1, 1}, 1.0F, 4.0F) : nullptr;
                      Tensor* turned = ops::rope(g, l.f32(r.a), l.ids({tokens, 1, 1, 1}, 100), factors, r.rope);
                      Tensor* rows = ops::view_2d(g, turned, row, tokens, turned->nb[2], 0);
                      return ops::set_rows(g, l.floats(type, {row, 20, 1, 1}), rows, l.distinct_ids({tokens, 1, 1, 1}, 20, r.id));
                  }}});
        }
    }
}

} // namespace

std::vector<FusedCase> fused_cases() {
    std::vector<FusedCase> cases;
    add_norms(cases);
    add_chains(cases);
    add_products(cases);
    add_gates(cases);
    add_ropes(cases);
    return cases;
}

} // namespace schedscope::test
