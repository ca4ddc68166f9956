#include "runtime/backend/cpu/alibi.h"
#include "runtime/backend/cpu/kernel.h"
#include "runtime/backend/cpu/rope_angles.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

void run_soft_max(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const Tensor* mask = node.src[1];
    const Tensor* sinks = node.src[2];
    const int64_t n = node.ne[0];
    const float scale = node.param_f32(0);
    const float max_bias = node.param_f32(1);
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
        const float sink = sinks != nullptr ? read_as<float>(host_data(*sinks) + static_cast<size_t>(i.i2) * sinks->nb[0]) : 0.0F;
        top = sinks != nullptr ? std::max(top, sink) : top;
        if (std::isinf(top)) { // everything is masked
            std::fill(out, out + n, 0.0F);
            continue;
        }
        double sum = work.vector.exp_sum(room, top, out, n);
        sum += sinks != nullptr ? static_cast<double>(std::exp(sink - top)) : 0.0;
        work.vector.scale(out, static_cast<float>(1.0 / sum), 0.0F, out, n);
    }
}

void run_rope(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const Tensor& positions = *node.src[1];
    const int64_t n = node.ne[0];
    const int64_t n_dims = node.params[1];
    const bool halves = (node.params[2] & 2) != 0;
    const RopeAngles angles(node);
    float* room = work.room(2 * n + n_dims);
    float* turn = room + 2 * n; // cos, sin for each pair
    int64_t turned_for = -1;
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        if (i.i2 != turned_for) {
            turned_for = i.i2;
            const auto position = read_as<int32_t>(host_data(positions) + static_cast<size_t>(i.i2) * positions.nb[0]);
            angles.fill(position, node.src[2] != nullptr ? host_data_as<float>(*node.src[2]) : nullptr, turn);
        }
        const float* x = read_row(a, row_data(a, i), room, work.vector);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + n);
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
        write_row(node, target, out, work.vector);
    }
}

} // namespace schedscope::cpu
