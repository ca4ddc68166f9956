#include "runtime/backend/cpu/kernel.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

/// Rows of source 0 with rows of source 1 repeated to them. `whole(a, b, out, n)` works on rows of the same length, `one(a, b)` on single values.
template <typename Whole, typename One> void binary(const Work& work, Whole whole, One one) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const Tensor& b = *node.src[1];
    const int64_t n = node.ne[0];
    const int64_t nb = b.ne[0];
    float* room = work.room(2 * n + nb);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const float* x = read_row(a, row_data(a, i), room, work.vector);
        const float* y = read_row(b, repeated_row(b, i), room + n, work.vector);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + n + nb);
        if (nb == n) {
            whole(x, y, out, n);
        } else {
            for (int64_t j = 0; j < n; ++j) {
                out[j] = one(x[j], y[nb == 1 ? 0 : j % nb]);
            }
        }
        write_row(node, target, out, work.vector);
    }
}

template <typename One> void binary(const Work& work, One one) {
    binary(
        work,
        [one](const float* x, const float* y, float* out, int64_t n) {
            for (int64_t j = 0; j < n; ++j) {
                out[j] = one(x[j], y[j]);
            }
        },
        one);
}

/// Each row of source 0 through `row(in, out, n)`.
template <typename Row> void by_row(const Work& work, Row row) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const int64_t n = node.ne[0];
    float* room = work.room(2 * n);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + n);
        row(read_row(a, row_data(a, i), room, work.vector), out, n);
        write_row(node, target, out, work.vector);
    }
}

template <typename One> void map(const Work& work, One one) {
    by_row(work, [one](const float* in, float* out, int64_t n) {
        for (int64_t j = 0; j < n; ++j) {
            out[j] = one(in[j]);
        }
    });
}

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float gelu(float x) { return 0.5F * x * (1.0F + std::tanh(0.79788456080286535588F * x * (1.0F + 0.044715F * x * x))); }
float gelu_erf(float x) { return 0.5F * x * (1.0F + std::erf(x * 0.70710678118654752440F)); }
float gelu_quick(float x) { return x * sigmoid(1.702F * x); }

void run_unary(const Work& work) {
    switch (static_cast<UnaryOp>(work.node().params[0])) {
    case UnaryOp::ABS: return map(work, [](float x) { return std::fabs(x); });
    case UnaryOp::SGN: return map(work, [](float x) { return x > 0 ? 1.0F : x < 0 ? -1.0F : 0.0F; });
    case UnaryOp::NEG: return map(work, [](float x) { return -x; });
    case UnaryOp::STEP: return map(work, [](float x) { return x > 0 ? 1.0F : 0.0F; });
    case UnaryOp::TANH: return map(work, [](float x) { return std::tanh(x); });
    case UnaryOp::ELU: return map(work, [](float x) { return x > 0 ? x : std::expm1(x); });
    case UnaryOp::RELU: return map(work, [](float x) { return std::max(x, 0.0F); });
    case UnaryOp::SIGMOID: return map(work, sigmoid);
    case UnaryOp::GELU: return map(work, gelu);
    case UnaryOp::GELU_QUICK: return map(work, gelu_quick);
    case UnaryOp::GELU_ERF: return map(work, gelu_erf);
    case UnaryOp::SILU: return by_row(work, work.vector.silu);
    case UnaryOp::HARDSWISH: return map(work, [](float x) { return x * std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); });
    case UnaryOp::HARDSIGMOID: return map(work, [](float x) { return std::clamp((x + 3.0F) / 6.0F, 0.0F, 1.0F); });
    case UnaryOp::EXP: return map(work, [](float x) { return std::exp(x); });
    case UnaryOp::EXPM1: return map(work, [](float x) { return std::expm1(x); });
    case UnaryOp::SOFTPLUS: return map(work, [](float x) { return x > 20.0F ? x : std::log1p(std::exp(x)); });
    case UnaryOp::FLOOR: return map(work, [](float x) { return std::floor(x); });
    case UnaryOp::CEIL: return map(work, [](float x) { return std::ceil(x); });
    case UnaryOp::ROUND: return map(work, [](float x) { return std::round(x); });
    case UnaryOp::TRUNC: return map(work, [](float x) { return std::trunc(x); });
    case UnaryOp::XIELU: // refused by supports_op
    case UnaryOp::count: return;
    }
}

/// gate(x) × up for each row; the halves of one source, or two sources.
template <typename Row> void gated(const Work& work, Row row) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const bool one_source = node.src[1] == nullptr;
    const Tensor& b = one_source ? a : *node.src[1];
    const int64_t n = node.ne[0];
    const bool swapped = node.params[1] != 0;
    float* room = work.room(a.ne[0] + b.ne[0] + n);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const float* x = read_row(a, row_data(a, i), room, work.vector);
        const float* y = one_source ? x + n : read_row(b, row_data(b, i), room + a.ne[0], work.vector);
        if (one_source && swapped) {
            std::swap(x, y);
        }
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + a.ne[0] + b.ne[0]);
        row(x, y, out, n);
        write_row(node, target, out, work.vector);
    }
}

template <typename Gate> void gated_by(const Work& work, Gate gate) {
    gated(work, [gate](const float* x, const float* y, float* out, int64_t n) {
        for (int64_t j = 0; j < n; ++j) {
            out[j] = gate(x[j]) * y[j];
        }
    });
}

} // namespace

void run_add(const Work& work) {
    binary(work, work.vector.add, [](float x, float y) { return x + y; });
}
void run_sub(const Work& work) {
    binary(work, [](float x, float y) { return x - y; });
}
void run_mul(const Work& work) {
    binary(work, work.vector.multiply_elements, [](float x, float y) { return x * y; });
}
void run_div(const Work& work) {
    binary(work, [](float x, float y) { return x / y; });
}

void run_add_id(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const Tensor& b = *node.src[1];
    const Tensor& ids = *node.src[2];
    const int64_t n = node.ne[0];
    float* room = work.room(3 * n);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const auto id =
            read_as<int32_t>(host_data(ids) + static_cast<size_t>(i.i1) * ids.nb[0] + static_cast<size_t>(i.i2) * ids.nb[1]);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + 2 * n);
        work.vector.add(read_row(a, row_data(a, i), room, work.vector),
                        read_row(b, row_data(b, {id, 0, 0}), room + n, work.vector), out, n);
        write_row(node, target, out, work.vector);
    }
}

void run_scale(const Work& work) {
    const float factor = work.node().param_f32(0);
    const float bias = work.node().param_f32(1);
    by_row(work, [&](const float* in, float* out, int64_t n) { work.vector.scale(in, factor, bias, out, n); });
}

void run_clamp(const Work& work) {
    const float low = work.node().param_f32(0);
    const float high = work.node().param_f32(1);
    map(work, [=](float x) { return x < low ? low : x > high ? high : x; });
}

void run_function(const Work& work) {
    switch (work.node().op) {
    case Op::SQR: return map(work, [](float x) { return x * x; });
    case Op::SQRT: return map(work, [](float x) { return std::sqrt(x); });
    case Op::LOG: return map(work, [](float x) { return std::log(x); });
    case Op::SIN: return map(work, [](float x) { return std::sin(x); });
    case Op::COS: return map(work, [](float x) { return std::cos(x); });
    default: return run_unary(work);
    }
}

void run_glu(const Work& work) {
    switch (static_cast<GluOp>(work.node().params[0])) {
    case GluOp::REGLU: return gated_by(work, [](float x) { return std::max(x, 0.0F); });
    case GluOp::GEGLU: return gated_by(work, gelu);
    case GluOp::GEGLU_ERF: return gated_by(work, gelu_erf);
    case GluOp::GEGLU_QUICK: return gated_by(work, gelu_quick);
    case GluOp::SWIGLU:
        return gated(work, [&](const float* x, const float* y, float* out, int64_t n) {
            // Piece by piece through the cache: out may be x or y itself.
            float piece[256];
            for (int64_t j = 0; j < n; j += 256) {
                const int64_t m = std::min<int64_t>(256, n - j);
                work.vector.silu(x + j, piece, m);
                work.vector.multiply_elements(piece, y + j, out + j, m);
            }
        });
    default: return;
    }
}

} // namespace schedscope::cpu
