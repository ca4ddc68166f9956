#include "runtime/backend/cpu/kernels/activation.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float gelu(float x) { return 0.5F * x * (1.0F + std::tanh(0.79788456080286535588F * x * (1.0F + 0.044715F * x * x))); }
float gelu_erf(float x) { return 0.5F * x * (1.0F + std::erf(x * 0.70710678118654752440F)); }
float gelu_quick(float x) { return x * sigmoid(1.702F * x); }

} // namespace

void activate(UnaryOp function, const VectorOps& vector, const float* in, float* out, int64_t n) {
    const auto map = [=](auto one) {
        for (int64_t j = 0; j < n; ++j) {
            out[j] = one(in[j]);
        }
    };
    switch (function) {
    case UnaryOp::ABS: return map([](float x) { return std::fabs(x); });
    case UnaryOp::SGN: return map([](float x) { return x > 0 ? 1.0F : x < 0 ? -1.0F : 0.0F; });
    case UnaryOp::NEG: return map([](float x) { return -x; });
    case UnaryOp::STEP: return map([](float x) { return x > 0 ? 1.0F : 0.0F; });
    case UnaryOp::TANH: return map([](float x) { return std::tanh(x); });
    case UnaryOp::ELU: return map([](float x) { return x > 0 ? x : std::expm1(x); });
    case UnaryOp::RELU: return map([](float x) { return std::max(x, 0.0F); });
    case UnaryOp::SIGMOID: return map(sigmoid);
    case UnaryOp::GELU: return map(gelu);
    case UnaryOp::GELU_QUICK: return map(gelu_quick);
    case UnaryOp::GELU_ERF: return map(gelu_erf);
    case UnaryOp::SILU: return vector.silu(in, out, n);
    case UnaryOp::HARDSWISH: return map([](float x) { return x * std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); });
    case UnaryOp::HARDSIGMOID: return map([](float x) { return std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); });
    case UnaryOp::EXP: return map([](float x) { return std::exp(x); });
    case UnaryOp::EXPM1: return map([](float x) { return std::expm1(x); });
    case UnaryOp::SOFTPLUS: return map([](float x) { return x > 20.0F ? x : std::log1p(std::exp(x)); });
    case UnaryOp::FLOOR: return map([](float x) { return std::floor(x); });
    case UnaryOp::CEIL: return map([](float x) { return std::ceil(x); });
    case UnaryOp::ROUND: return map([](float x) { return std::round(x); });
    case UnaryOp::TRUNC: return map([](float x) { return std::trunc(x); });
    case UnaryOp::XIELU: // refused by supports_op
    case UnaryOp::count: return;
    }
}

void gate(GluOp function, const VectorOps& vector, const float* x, const float* up, float* out, int64_t n) {
    const auto gated_by = [=](auto one) {
        for (int64_t j = 0; j < n; ++j) {
            out[j] = one(x[j]) * up[j];
        }
    };
    switch (function) {
    case GluOp::REGLU: return gated_by([](float v) { return std::max(v, 0.0F); });
    case GluOp::GEGLU: return gated_by(gelu);
    case GluOp::GEGLU_ERF: return gated_by(gelu_erf);
    case GluOp::GEGLU_QUICK: return gated_by(gelu_quick);
    case GluOp::SWIGLU: {
        // Piece by piece through the cache: out may be x or up itself.
        float piece[256];
        for (int64_t j = 0; j < n; j += 256) {
            const int64_t m = std::min<int64_t>(256, n - j);
            vector.silu(x + j, piece, m);
            vector.multiply_elements(piece, up + j, out + j, m);
        }
        return;
    }
    case GluOp::SWIGLU_OAI: // refused by supports_op
    case GluOp::count: return;
    }
}

} // namespace schedscope::cpu
