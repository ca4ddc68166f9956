#include "runtime/backend/cpu/kernels/activation.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace schedscope::cpu {

namespace {

float absolute(float x) { return std::fabs(x); }
float sign(float x) { return x > 0 ? 1.0F : x < 0 ? -1.0F : 0.0F; }
float negative(float x) { return -x; }
float step(float x) { return x > 0 ? 1.0F : 0.0F; }
float tanh_of(float x) { return std::tanh(x); }
float elu(float x) { return x > 0 ? x : std::expm1(x); }
float relu(float x) { return std::max(x, 0.0F); }
float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float gelu(float x) { return 0.5F * x * (1.0F + std::tanh(0.79788456080286535588F * x * (1.0F + 0.044715F * x * x))); }
float gelu_quick(float x) { return x * sigmoid(1.702F * x); }
float gelu_erf(float x) { return 0.5F * x * (1.0F + std::erf(x * 0.70710678118654752440F)); }
float hard_swish(float x) { return x * std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); }
float hard_sigmoid(float x) { return std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); }
float exp_of(float x) { return std::exp(x); }
float expm1_of(float x) { return std::expm1(x); }
float softplus(float x) { return x > 20.0F ? x : std::log1p(std::exp(x)); }
float floor_of(float x) { return std::floor(x); }
float ceil_of(float x) { return std::ceil(x); }
float round_of(float x) { return std::round(x); }
float trunc_of(float x) { return std::trunc(x); }

using ActivationLoop = void (*)(const VectorOps&, const float* in, float* out, int64_t n);

template <float (*one)(float)> void each(const VectorOps&, const float* in, float* out, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
        out[j] = one(in[j]);
    }
}

void silu(const VectorOps& vector, const float* in, float* out, int64_t n) { vector.silu(in, out, n); }

struct ActivationEntry {
    UnaryOp function;
    ActivationLoop run;
};

// The functions that the CPU has.
constexpr ActivationEntry activations[] = {
    {UnaryOp::ABS, each<absolute>},
    {UnaryOp::SGN, each<sign>},
    {UnaryOp::NEG, each<negative>},
    {UnaryOp::STEP, each<step>},
    {UnaryOp::TANH, each<tanh_of>},
    {UnaryOp::ELU, each<elu>},
    {UnaryOp::RELU, each<relu>},
    {UnaryOp::SIGMOID, each<sigmoid>},
    {UnaryOp::GELU, each<gelu>},
    {UnaryOp::GELU_QUICK, each<gelu_quick>},
    {UnaryOp::SILU, silu},
    {UnaryOp::HARDSWISH, each<hard_swish>},
    {UnaryOp::HARDSIGMOID, each<hard_sigmoid>},
    {UnaryOp::EXP, each<exp_of>},
    {UnaryOp::EXPM1, each<expm1_of>},
    {UnaryOp::SOFTPLUS, each<softplus>},
    {UnaryOp::GELU_ERF, each<gelu_erf>},
    {UnaryOp::FLOOR, each<floor_of>},
    {UnaryOp::CEIL, each<ceil_of>},
    {UnaryOp::ROUND, each<round_of>},
    {UnaryOp::TRUNC, each<trunc_of>},
};

using Gate = void (*)(const VectorOps&, const float* x, const float* up, float* out, int64_t n);

template <float (*one)(float)> void each_gated(const VectorOps&, const float* x, const float* up, float* out, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
        out[j] = one(x[j]) * up[j];
    }
}

/// Piece by piece through the cache: out may be x or up itself.
void silu_gated(const VectorOps& vector, const float* x, const float* up, float* out, int64_t n) {
    float piece[256];
    for (int64_t j = 0; j < n; j += 256) {
        const int64_t m = std::min<int64_t>(256, n - j);
        vector.silu(x + j, piece, m);
        vector.multiply_elements(piece, up + j, out + j, m);
    }
}

struct GateEntry {
    GluOp function;
    Gate run;
};

// The gates that the CPU has.
constexpr GateEntry gates[] = {
    {GluOp::REGLU, each_gated<relu>},
    {GluOp::GEGLU, each_gated<gelu>},
    {GluOp::SWIGLU, silu_gated},
    {GluOp::GEGLU_ERF, each_gated<gelu_erf>},
    {GluOp::GEGLU_QUICK, each_gated<gelu_quick>},
};

/// The entries' code by function; null where there is none.
template <typename Run, typename Function, typename Entry, size_t N> constexpr auto by_function(const Entry (&entries)[N]) {
    std::array<Run, ordinal(Function::count)> runs{};
    for (const Entry& entry : entries) {
        runs[ordinal(entry.function)] = entry.run;
    }
    return runs;
}

constexpr auto activation_of = by_function<ActivationLoop, UnaryOp>(activations);
constexpr auto gate_of = by_function<Gate, GluOp>(gates);

} // namespace

bool has_activation(UnaryOp function) noexcept { return !is_known(function) || activation_of[ordinal(function)] != nullptr; }
bool has_gate(GluOp function) noexcept { return !is_known(function) || gate_of[ordinal(function)] != nullptr; }

void activate(UnaryOp function, const VectorOps& vector, const float* in, float* out, int64_t n) {
    activation_of[ordinal(function)](vector, in, out, n);
}

void gate(GluOp function, const VectorOps& vector, const float* x, const float* up, float* out, int64_t n) {
    gate_of[ordinal(function)](vector, x, up, out, n);
}

} // namespace schedscope::cpu
