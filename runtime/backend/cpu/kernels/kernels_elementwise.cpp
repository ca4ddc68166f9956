#include "runtime/backend/cpu/kernels/activation.h"
#include "runtime/backend/cpu/kernels/operators.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

/// Rows of source 0 with rows of source 1 repeated to them. `whole(a, b, out, n)` works on rows of the same length, `one(a, b)`
/// on single values.
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

template <typename One> void map(const Work& work, One one) {
    by_row(work, *work.node().src[0], [one](const float* in, float* out, int64_t n, const RowIndex&) {
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
    const bool swapped = params_of<Op::GLU>(node).swapped != 0;
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
        const auto id = read_as<int32_t>(host_data(ids) + i.i1 * ids.nb[0] + i.i2 * ids.nb[1]);
        std::byte* target = row_data(node, i);
        const float* sum = read_row(a, row_data(a, i), room, work.vector);
        if (id >= 0 && id < b.ne[1]) { // else nothing is added
            float* out = row_to_fill(node, target, room + 2 * n);
            work.vector.add(sum, read_row(b, row_data(b, {id, 0, 0}), room + n, work.vector), out, n);
            sum = out;
        }
        write_row(node, target, sum, work.vector);
    }
}

void run_scale(const Work& work) {
    const auto [factor, bias] = params_of<Op::SCALE>(work.node());
    by_row(work, *work.node().src[0],
           [&work, factor = factor, bias = bias](const float* in, float* out, int64_t n, const RowIndex&) {
               work.vector.scale(in, factor, bias, out, n);
           });
}

void run_clamp(const Work& work) {
    const auto [low, high] = params_of<Op::CLAMP>(work.node());
    map(work, [low = low, high = high](float x) { return x < low ? low : x > high ? high : x; });
}

float square(float x) { return x * x; }
float root(float x) { return std::sqrt(x); }
float logarithm(float x) { return std::log(x); }
float sine(float x) { return std::sin(x); }
float cosine(float x) { return std::cos(x); }

template <float (*one)(float)> void run_each(const Work& work) {
    map(work, [](float x) { return one(x); });
}

Answer supports_unary(const Tensor& node) {
    return has_activation(params_of<Op::UNARY>(node).function) ? floats_only(node)
                                                               : Answer::no(Refusal::op, "there is no kernel for this function");
}

void run_unary(const Work& work) {
    const UnaryOp function = params_of<Op::UNARY>(work.node()).function;
    by_row(work, *work.node().src[0],
           [&](const float* in, float* out, int64_t n, const RowIndex&) { activate(function, work.vector, in, out, n); });
}

Answer supports_glu(const Tensor& node) {
    return has_gate(params_of<Op::GLU>(node).function) ? floats_only(node)
                                                       : Answer::no(Refusal::op, "there is no kernel for this gate");
}

void run_glu(const Work& work) {
    const GluOp function = params_of<Op::GLU>(work.node()).function;
    gated(work, [&](const float* x, const float* y, float* out, int64_t n) { gate(function, work.vector, x, y, out, n); });
}

constexpr CpuOperator elementwise_entries[] = {
    {Op::ADD, "add", floats_only, run_add},          {Op::SUB, "sub", floats_only, run_sub},
    {Op::MUL, "mul", floats_only, run_mul},          {Op::DIV, "div", floats_only, run_div},
    {Op::ADD_ID, "add_id", floats_only, run_add_id}, {Op::SCALE, "scale", floats_only, run_scale},
    {Op::CLAMP, "clamp", floats_only, run_clamp},    {Op::SQR, "sqr", floats_only, run_each<square>},
    {Op::SQRT, "sqrt", floats_only, run_each<root>}, {Op::LOG, "log", floats_only, run_each<logarithm>},
    {Op::SIN, "sin", floats_only, run_each<sine>},   {Op::COS, "cos", floats_only, run_each<cosine>},
    {Op::UNARY, "unary", supports_unary, run_unary}, {Op::GLU, "glu", supports_glu, run_glu},
};

} // namespace

std::span<const CpuOperator> elementwise_operators() noexcept { return elementwise_entries; }

} // namespace schedscope::cpu
