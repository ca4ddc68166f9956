#include "runtime/backend/cpu/kernels/activation.h"
#include "runtime/backend/cpu/kernels/kernel.h"

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
    default:
        return by_row(work, [&](const float* in, float* out, int64_t n) {
            activate(static_cast<UnaryOp>(work.node().params[0]), work.vector, in, out, n);
        });
    }
}

void run_glu(const Work& work) {
    gated(work, [&](const float* x, const float* y, float* out, int64_t n) {
        gate(static_cast<GluOp>(work.node().params[0]), work.vector, x, y, out, n);
    });
}

} // namespace schedscope::cpu
