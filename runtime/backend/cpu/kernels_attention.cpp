#include "runtime/backend/cpu/kernel.h"
#include "runtime/backend/cpu/rope_angles.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

/// ALiBi: how strongly head h of n is pulled to near positions.
float slope(float max_bias, int64_t head, int64_t n_heads) {
    if (max_bias <= 0.0F) {
        return 1.0F;
    }
    const auto n = static_cast<double>(int64_t{1} << static_cast<int>(std::floor(std::log2(static_cast<double>(n_heads)))));
    const double base = std::pow(2.0, -static_cast<double>(max_bias) / n);
    const double half_base = std::pow(2.0, -static_cast<double>(max_bias) / 2.0 / n);
    const auto h = static_cast<double>(head);
    return static_cast<float>(h < n ? std::pow(base, h + 1) : std::pow(half_base, 2 * (h - n) + 1));
}

} // namespace

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
            work.vector.add_scaled(room, read_row(*mask, row, room + n, work.vector), slope(max_bias, i.i2, node.ne[2]), n);
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

void run_flash_attn(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& q = *node.src[0];
    const Tensor& k = *node.src[1];
    const Tensor& v = *node.src[2];
    const Tensor* mask = node.src[3];
    const float scale = node.param_f32(0);
    const float max_bias = node.param_f32(1);
    const float cap = node.param_f32(2);
    const int64_t d = q.ne[0];
    const int64_t dv = v.ne[0];
    const int64_t n_kv = k.ne[1];
    const int64_t group = q.ne[2] / k.ne[2];
    const int64_t repeat = q.ne[3] / k.ne[3];
    float* room = work.room(d + std::max(d, dv) + dv + 2 * n_kv);
    float* value = room + d;
    float* acc = value + std::max(d, dv);
    float* scores = acc + dv;
    float* masked = scores + n_kv;
    const auto [first, end] = work.share(n_rows(q));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(q, r); // i1 token, i2 head, i3 sequence
        const float* x = read_row(q, row_data(q, i), room, work.vector);
        const float pull = slope(max_bias, i.i2, q.ne[2]);
        const float* seen = nullptr;
        if (mask != nullptr) {
            work.vector.half_to_floats(
                reinterpret_cast<const uint16_t*>(row_data(*mask, {i.i1, i.i2 % mask->ne[2], i.i3 % mask->ne[3]})), masked, n_kv);
            seen = masked;
        }
        const std::byte* keys = row_data(k, {0, i.i2 / group, i.i3 / repeat});
        const std::byte* values = row_data(v, {0, i.i2 / group, i.i3 / repeat});
        for (int64_t j = 0; j < n_kv; ++j) {
            if (seen != nullptr && std::isinf(seen[j])) {
                scores[j] = -INFINITY;
                continue;
            }
            const std::byte* key = keys + static_cast<size_t>(j) * k.nb[1];
            float score = 0;
            switch (k.type) {
            case Type::F16: score = work.vector.dot_f16(reinterpret_cast<const uint16_t*>(key), x, d); break;
            default: score = work.vector.dot_f32(read_row(k, key, value, work.vector), x, d); break;
            }
            score *= scale;
            score = cap != 0.0F ? cap * std::tanh(score / cap) : score;
            scores[j] = score + (seen != nullptr ? pull * seen[j] : 0.0F);
        }
        std::fill(acc, acc + dv, 0.0F);
        auto* out = reinterpret_cast<float*>(row_data(node, {i.i2, i.i1, i.i3}));
        const float top = work.vector.max(scores, n_kv);
        if (std::isinf(top)) {
            std::fill(out, out + dv, 0.0F);
            continue;
        }
        const double sum = work.vector.exp_sum(scores, top, scores, n_kv);
        for (int64_t j = 0; j < n_kv; ++j) {
            if (scores[j] != 0.0F) {
                work.vector.add_scaled(acc, read_row(v, values + static_cast<size_t>(j) * v.nb[1], value, work.vector), scores[j],
                                       dv);
            }
        }
        work.vector.scale(acc, static_cast<float>(1.0 / sum), 0.0F, out, dv);
    }
}

} // namespace schedscope::cpu
