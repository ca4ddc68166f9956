#include "tests/runtime/backend/ops/op_reference_parts.h"

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

} // namespace

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

} // namespace schedscope::test
