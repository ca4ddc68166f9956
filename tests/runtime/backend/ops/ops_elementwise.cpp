#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace schedscope::test {

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_tanh(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }
double gelu_erf(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_quick(double x) { return x * sigmoid(1.702 * x); }
double ramp(double x) { return std::min(1.0, std::max(0.0, (x + 3) / 6)); }

double unary(UnaryOp op, double x) {
    switch (op) {
    case UnaryOp::ABS: return std::abs(x);
    case UnaryOp::SGN: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case UnaryOp::NEG: return -x;
    case UnaryOp::STEP: return x > 0 ? 1 : 0;
    case UnaryOp::TANH: return std::tanh(x);
    case UnaryOp::ELU: return x > 0 ? x : std::expm1(x);
    case UnaryOp::RELU: return x > 0 ? x : 0;
    case UnaryOp::SIGMOID: return sigmoid(x);
    case UnaryOp::GELU: return gelu_tanh(x);
    case UnaryOp::GELU_QUICK: return gelu_quick(x);
    case UnaryOp::SILU: return x * sigmoid(x);
    case UnaryOp::HARDSWISH: return x * ramp(x);
    case UnaryOp::HARDSIGMOID: return ramp(x);
    case UnaryOp::EXP: return std::exp(x);
    case UnaryOp::EXPM1: return std::expm1(x);
    case UnaryOp::SOFTPLUS: return x > 20 ? x : std::log1p(std::exp(x));
    case UnaryOp::GELU_ERF: return gelu_erf(x);
    case UnaryOp::FLOOR: return std::floor(x);
    case UnaryOp::CEIL: return std::ceil(x);
    case UnaryOp::ROUND: return std::round(x);
    case UnaryOp::TRUNC: return std::trunc(x);
    default: throw std::logic_error("the reference has no such function");
    }
}

double gate(GluOp op, double x) {
    switch (op) {
    case GluOp::REGLU: return unary(UnaryOp::RELU, x);
    case GluOp::GEGLU: return gelu_tanh(x);
    case GluOp::SWIGLU: return unary(UnaryOp::SILU, x);
    case GluOp::GEGLU_ERF: return gelu_erf(x);
    case GluOp::GEGLU_QUICK: return gelu_quick(x);
    default: throw std::logic_error("the reference has no such gate");
    }
}

template <typename F> bool of_one(Operands& o, F f) {
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return f(o.a().at(i0, i1, i2, i3)); });
    return true;
}

template <typename F> bool of_two(Operands& o, F f) {
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        return f(o.a().at(i0, i1, i2, i3), o.b().repeated(i0, i1, i2, i3));
    });
    return true;
}

bool glu(Operands& o) {
    const auto op = static_cast<GluOp>(o.integer(0));
    const bool swapped = o.integer(1) != 0;
    const int64_t n = o.result.ne[0];
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        if (o.has(1)) {
            return gate(op, o.a().at(i0, i1, i2, i3)) * o.b().at(i0, i1, i2, i3);
        }
        return gate(op, o.a().at(i0 + (swapped ? n : 0), i1, i2, i3)) * o.a().at(i0 + (swapped ? 0 : n), i1, i2, i3);
    });
    return true;
}

bool evaluate_elementwise(Operands& o) {
    switch (o.node.op) {
    case Op::ADD: return of_two(o, [](double x, double y) { return x + y; });
    case Op::SUB: return of_two(o, [](double x, double y) { return x - y; });
    case Op::MUL: return of_two(o, [](double x, double y) { return x * y; });
    case Op::DIV: return of_two(o, [](double x, double y) { return x / y; });
    case Op::ADD_ID:
        o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
            const auto row = static_cast<int64_t>(o.sources[2].at(i1, i2, 0, 0));
            return o.a().at(i0, i1, i2, i3) + o.b().at(i0, row, 0, 0);
        });
        return true;
    case Op::SCALE: return of_one(o, [&](double x) { return x * o.number(0) + o.number(1); });
    case Op::CLAMP: return of_one(o, [&](double x) { return std::min(std::max(x, o.number(0)), o.number(1)); });
    case Op::SQR: return of_one(o, [](double x) { return x * x; });
    case Op::SQRT: return of_one(o, [](double x) { return std::sqrt(x); });
    case Op::LOG: return of_one(o, [](double x) { return std::log(x); });
    case Op::SIN: return of_one(o, [](double x) { return std::sin(x); });
    case Op::COS: return of_one(o, [](double x) { return std::cos(x); });
    case Op::UNARY: return of_one(o, [&](double x) { return unary(static_cast<UnaryOp>(o.integer(0)), x); });
    case Op::GLU: return glu(o);
    default: return false;
    }
}

using Binary = Tensor* (*)(Graph&, Tensor*, Tensor*);

struct BinaryShape {
    const char* name;
    Shape a, b;
};
constexpr BinaryShape binary_shapes[] = {
    {"one element", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"same shape", {33, 5, 2, 3}, {33, 5, 2, 3}},
    {"a row for all rows", {64, 7, 3, 2}, {64, 1, 1, 1}},
    {"one value for all", {19, 4, 2, 1}, {1, 1, 1, 1}},
    {"one value for each row", {19, 4, 2, 1}, {1, 4, 2, 1}},
    {"part of a row", {48, 3, 1, 1}, {16, 3, 1, 1}},
    {"repeated along every dimension", {6, 4, 6, 4}, {3, 2, 2, 2}},
    {"repeated along 2 and 3", {256, 3, 4, 2}, {256, 3, 2, 1}},
    {"large", {1024, 256, 1, 1}, {1024, 1, 1, 1}},
};

void add_binary(std::vector<OpCase>& cases, Op op, Binary make) {
    // A divisor must not come near zero; it may be negative.
    const float low = op == Op::DIV ? 0.5F : -1.0F;
    for (const BinaryShape& s : binary_shapes) {
        cases.push_back(
            {op, s.name, [=](Graph& g, Leafs& l) { return make(g, l.f32(s.a), l.floats(Type::F32, s.b, low, 2.0F)); }});
    }
    for (const Type type : {Type::F16, Type::BF16}) {
        cases.push_back({op, std::string(type_name(type)) + " by itself", [=](Graph& g, Leafs& l) {
                             return make(g, l.floats(type, {37, 3, 2, 1}), l.floats(type, {37, 1, 2, 1}, low, 2.0F));
                         }});
        cases.push_back({op, std::string(type_name(type)) + " with f32", [=](Graph& g, Leafs& l) {
                             return make(g, l.floats(type, {32, 3, 1, 1}), l.floats(Type::F32, {32, 3, 1, 1}, low, 2.0F));
                         }});
        cases.push_back({op, "f32 with " + std::string(type_name(type)), [=](Graph& g, Leafs& l) {
                             return make(g, l.f32({32, 3, 1, 1}), l.floats(type, {32, 3, 1, 1}, low, 2.0F));
                         }});
    }
    cases.push_back(
        {op, "a permuted", [=](Graph& g, Leafs& l) {
             return make(g, ops::permute(g, l.f32({20, 3, 5, 2}), 0, 2, 1, 3), l.floats(Type::F32, {20, 5, 1, 1}, low, 2.0F));
         }});
    cases.push_back({op, "a transposed", [=](Graph& g, Leafs& l) {
                         return make(g, ops::transpose(g, l.f32({5, 20, 2, 1})), l.floats(Type::F32, {20, 5, 2, 1}, low, 2.0F));
                     }});
    cases.push_back({op, "b transposed", [=](Graph& g, Leafs& l) {
                         return make(g, l.f32({20, 5, 2, 1}), ops::transpose(g, l.floats(Type::F32, {5, 20, 1, 1}, low, 2.0F)));
                     }});
    cases.push_back({op, "views with gaps", [=](Graph& g, Leafs& l) {
                         Tensor* a = ops::view_2d(g, l.f32({40, 9, 1, 1}), 17, 4, 2 * 40 * 4, 40);
                         Tensor* b = ops::view_2d(g, l.floats(Type::F32, {30, 4, 1, 1}, low, 2.0F), 17, 4, 30 * 4, 8);
                         return make(g, a, b);
                     }});
}

struct RowShape {
    const char* name;
    Shape ne;
};
constexpr RowShape row_shapes[] = {
    {"one element", {1, 1, 1, 1}}, {"odd row", {7, 3, 1, 1}},   {"several dimensions", {33, 4, 3, 2}},
    {"long rows", {300, 2, 1, 1}}, {"large", {512, 400, 1, 1}},
};

/// A function of single values, over shapes and float types.
void add_function(std::vector<OpCase>& cases, Op op, const std::string& prefix, float low, float high,
                  const std::function<Tensor*(Graph&, Tensor*)>& make) {
    for (const RowShape& s : row_shapes) {
        cases.push_back({op, prefix + s.name, [=](Graph& g, Leafs& l) { return make(g, l.floats(Type::F32, s.ne, low, high)); }});
    }
    for (const Type type : {Type::F16, Type::BF16}) {
        cases.push_back({op, prefix + std::string(type_name(type)), [=](Graph& g, Leafs& l) {
                             return make(g, l.floats(type, {45, 3, 1, 1}, low, high));
                         }});
    }
    cases.push_back({op, prefix + "rows with gaps", [=](Graph& g, Leafs& l) {
                         return make(g, ops::view_2d(g, l.floats(Type::F32, {50, 6, 1, 1}, low, high), 21, 6, 50 * 4, 12));
                     }});
}

void add_glu(std::vector<OpCase>& cases, GluOp kind) {
    const std::string name(glu_name(kind));
    for (const Type type : {Type::F32, Type::F16}) {
        const std::string prefix = name + " " + std::string(type_name(type)) + " ";
        for (const bool swapped : {false, true}) {
            cases.push_back({Op::GLU, prefix + (swapped ? "halves swapped" : "halves"), [=](Graph& g, Leafs& l) {
                                 return ops::glu(g, l.floats(type, {2 * 43, 5, 2, 1}, -4, 4), nullptr, kind, swapped);
                             }});
        }
        cases.push_back({Op::GLU, prefix + "two sources", [=](Graph& g, Leafs& l) {
                             return ops::glu(g, l.floats(type, {129, 3, 1, 2}, -4, 4), l.floats(type, {129, 3, 1, 2}), kind);
                         }});
    }
    cases.push_back({Op::GLU, name + " halves of rows with gaps", [=](Graph& g, Leafs& l) {
                         return ops::glu(g, ops::view_2d(g, l.f32({100, 4, 1, 1}), 64, 4, 400, 16), nullptr, kind);
                     }});
    cases.push_back({Op::GLU, name + " two parts of one product", [=](Graph& g, Leafs& l) {
                         Tensor* both = l.floats(Type::F32, {96, 4, 1, 1}, -4, 4);
                         return ops::glu(g, ops::view_2d(g, both, 48, 4, 384, 0), ops::view_2d(g, both, 48, 4, 384, 192), kind);
                     }});
    cases.push_back({Op::GLU, name + " large", [=](Graph& g, Leafs& l) {
                         return ops::glu(g, l.f32({5000, 20, 1, 1}), l.f32({5000, 20, 1, 1}), kind);
                     }});
}

void add_elementwise_cases(std::vector<OpCase>& cases) {
    add_binary(cases, Op::ADD, ops::add);
    add_binary(cases, Op::SUB, ops::sub);
    add_binary(cases, Op::MUL, ops::mul);
    add_binary(cases, Op::DIV, ops::div);

    for (const Shape& ne : {Shape{64, 2, 3, 1}, Shape{17, 4, 5, 1}, Shape{2048, 4, 30, 1}}) {
        cases.push_back({Op::ADD_ID, shape_text(ne), [=](Graph& g, Leafs& l) {
                             return ops::add_id(g, l.f32(ne), l.f32({ne[0], 6, 1, 1}), l.ids({ne[1], ne[2], 1, 1}, 6));
                         }});
    }

    add_function(cases, Op::SCALE, "", -3, 3, [](Graph& g, Tensor* a) { return ops::scale(g, a, 0.37F); });
    add_function(cases, Op::SCALE, "with bias, ", -3, 3, [](Graph& g, Tensor* a) { return ops::scale(g, a, -2.5F, 1.25F); });
    add_function(cases, Op::CLAMP, "", -3, 3, [](Graph& g, Tensor* a) { return ops::clamp(g, a, -0.5F, 1.5F); });
    add_function(cases, Op::SQR, "", -3, 3, ops::sqr);
    add_function(cases, Op::SQRT, "", 0, 9, ops::sqrt);
    add_function(cases, Op::LOG, "", 0.01F, 9, ops::log);
    add_function(cases, Op::SIN, "", -20, 20, ops::sin);
    add_function(cases, Op::COS, "", -20, 20, ops::cos);
    for (int32_t i = 0; i < static_cast<int32_t>(UnaryOp::count); ++i) {
        const auto kind = static_cast<UnaryOp>(i);
        if (kind != UnaryOp::XIELU) { // needs parameters that ops.h can't give
            add_function(cases, Op::UNARY, std::string(unary_name(kind)) + " ", -6, 6,
                         [kind](Graph& g, Tensor* a) { return ops::unary(g, a, kind); });
        }
    }
    // As samplers use them: forbidden tokens have −∞.
    const auto add = [&](Op op, const std::string& name, auto build) { cases.push_back({op, name, build}); };
    add(Op::LOG, "of 0 and 1", [](Graph& g, Leafs& l) {
        return ops::log(g, ops::unary(g, l.floats(Type::F32, {300, 3, 1, 1}), UnaryOp::STEP));
    });
    add(Op::UNARY, "STEP of 0 and of minus infinity", [](Graph& g, Leafs& l) {
        return ops::unary(g, l.mask(Type::F32, {300, 3, 1, 1}), UnaryOp::STEP);
    });
    add(Op::UNARY, "RELU of minus infinity", [](Graph& g, Leafs& l) {
        return ops::unary(g, l.mask(Type::F32, {300, 3, 1, 1}), UnaryOp::RELU);
    });
    add(Op::SCALE, "of minus infinity", [](Graph& g, Leafs& l) {
        return ops::scale(g, l.mask(Type::F32, {300, 3, 1, 1}), 0.5F, 3.0F);
    });
    add(Op::ADD, "of minus infinity", [](Graph& g, Leafs& l) {
        return ops::add(g, l.mask(Type::F32, {300, 3, 1, 1}), l.mask(Type::F32, {300, 3, 1, 1}));
    });
    add(Op::SUB, "one value from minus infinity", [](Graph& g, Leafs& l) {
        return ops::sub(g, l.mask(Type::F32, {300, 3, 1, 1}), l.f32({1, 1, 1, 1}));
    });
    for (const UnaryOp kind :
         {UnaryOp::SILU, UnaryOp::SIGMOID, UnaryOp::GELU, UnaryOp::TANH, UnaryOp::SOFTPLUS, UnaryOp::GELU_QUICK, UnaryOp::ELU}) {
        cases.push_back({Op::UNARY, std::string(unary_name(kind)) + " of large numbers", [kind](Graph& g, Leafs& l) {
                             return ops::unary(g, l.floats(Type::F32, {100, 4, 1, 1}, -200, 200), kind);
                         }});
    }
    for (int32_t i = 0; i < static_cast<int32_t>(GluOp::count); ++i) {
        if (static_cast<GluOp>(i) != GluOp::SWIGLU_OAI) { // needs parameters that ops.h can't give
            add_glu(cases, static_cast<GluOp>(i));
        }
    }
}

} // namespace

const OpFamily elementwise_ops{evaluate_elementwise, add_elementwise_cases};

} // namespace schedscope::test
