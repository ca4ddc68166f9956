#include "runtime/backend/cpu/kernels/alibi.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/kernels/rope_angles.h"
#include "runtime/backend/order/fusion_parts.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

void run_soft_max(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const Tensor* mask = node.src[1];
    const Tensor* sinks = node.src[2];
    const int64_t n = node.ne[0];
    const auto [scale, max_bias] = params_of<Op::SOFT_MAX>(node);
    float* room = work.room(2 * n);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        auto* out = reinterpret_cast<float*>(row_data(node, i));
        work.vector.scale(read_row(a, row_data(a, i), room, work.vector), scale, 0.0F, room, n);
        if (mask != nullptr) {
            const std::byte* row = row_data(*mask, {i.i1, i.i2 % mask->ne[2], i.i3 % mask->ne[3]});
            work.vector.add_scaled(room, read_row(*mask, row, room + n, work.vector), alibi_slope(max_bias, i.i2, node.ne[2]), n);
        }
        float top = work.vector.max(room, n);
        const float sink = sinks != nullptr ? read_as<float>(host_data(*sinks) + i.i2 * sinks->nb[0]) : 0.0F;
        top = sinks != nullptr ? std::max(top, sink) : top;
        // Everything is masked. What is not a number must stay one: it is what people look for.
        if (top == -INFINITY && std::none_of(room, room + n, [](float x) { return std::isnan(x); })) {
            std::fill(out, out + n, 0.0F);
            continue;
        }
        double sum = work.vector.exp_sum(room, top, out, n);
        sum += sinks != nullptr ? std::exp(sink - top) : 0.0;
        work.vector.scale(out, static_cast<float>(1.0 / sum), 0.0F, out, n);
    }
}

/// Turns heads of tokens.
class Turning {
public:
    explicit Turning(const Tensor& rope) : rope_(rope), params_(params_of<Op::ROPE>(rope)), angles_(params_) {}
    /// Floats that it needs.
    int64_t room() const noexcept { return rope_.ne[0] + params_.n_dims; }

    /// Row i (a head of token i2) into `out`. `room` is kept from call to call.
    void row(const RowIndex& i, float* out, float* room, const VectorOps& vector) {
        const Tensor& a = *rope_.src[0];
        const int64_t n = rope_.ne[0];
        const int64_t n_dims = params_.n_dims;
        const bool halves = (params_.mode & 2) != 0;
        float* turn = room + n; // cos, sin for each pair
        if (i.i2 != turned_for_) {
            turned_for_ = i.i2;
            const Tensor& positions = *rope_.src[1];
            const auto position = read_as<int32_t>(host_data(positions) + i.i2 * positions.nb[0]);
            angles_.fill(position, rope_.src[2] != nullptr ? host_data_as<float>(*rope_.src[2]) : nullptr, turn);
        }
        const float* x = read_row(a, row_data(a, i), room, vector);
        for (int64_t p = 0; p < n_dims / 2; ++p) {
            const int64_t j0 = halves ? p : 2 * p;
            const int64_t j1 = halves ? p + n_dims / 2 : 2 * p + 1;
            const float x0 = x[j0];
            const float x1 = x[j1];
            out[j0] = x0 * turn[2 * p] - x1 * turn[2 * p + 1];
            out[j1] = x0 * turn[2 * p + 1] + x1 * turn[2 * p];
        }
        if (out != x) {
            std::copy(x + n_dims, x + n, out + n_dims);
        }
    }

private:
    const Tensor& rope_;
    RopeParams params_;
    RopeAngles angles_;
    int64_t turned_for_ = -1;
};

void run_rope(const Work& work) {
    const Tensor& node = work.node();
    Turning turning(node);
    float* room = work.room(node.ne[0] + turning.room());
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room);
        turning.row(i, out, room + node.ne[0], work.vector);
        write_row(node, target, out, work.vector);
    }
}

Answer supports_rope(const Tensor& node) { // source 1 are positions
    return is_float(node.type) && is_float(node.src[0]->type) ? yes
                                                              : Answer::no(Refusal::type, "source 0 is not of a float type");
}

constexpr CpuOperator attention_entries[] = {
    {Op::SOFT_MAX, "soft_max", f32_rows, run_soft_max},
    {Op::ROPE, "rope", supports_rope, run_rope},
};

} // namespace

std::span<const CpuOperator> attention_operators() noexcept { return attention_entries; }

void run_rope_set_rows(const Work& work) {
    const auto [rope, store] = fused::rope_store_parts(work.nodes);
    Turning turning(*rope);
    const int64_t head = rope->ne[0];
    const int64_t heads = rope->ne[1];
    float* row = work.room(head * heads + turning.room());
    const auto [first, end] = work.share(rope->ne[2]);
    for (int64_t token = first; token < end; ++token) {
        const int64_t to = row_to_set(*store->src[1], {token, 0, 0});
        if (to < 0 || to >= store->ne[1]) {
            continue;
        }
        for (int64_t h = 0; h < heads; ++h) {
            turning.row({h, token, 0}, row + h * head, row + head * heads, work.vector);
        }
        write_row(*store, row_data(*store, {to, 0, 0}), row, work.vector);
    }
}

} // namespace schedscope::cpu
