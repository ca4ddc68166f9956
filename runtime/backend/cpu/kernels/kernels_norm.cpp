#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/order/fusion_parts.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

float rms_factor(const VectorOps& vector, const float* x, int64_t n, float eps) {
    return static_cast<float>(1.0 / std::sqrt(vector.sum_of_squares(x, n) / static_cast<double>(n) + eps));
}

/// The row around its mean; returns what it must be multiplied by to have variance 1.
float centre(const VectorOps& vector, const float* x, int64_t n, float eps, float* out) {
    const double mean = vector.sum(x, n) / static_cast<double>(n);
    vector.scale(x, 1.0F, static_cast<float>(-mean), out, n);
    const double variance = vector.sum_of_squares(out, n) / static_cast<double>(n);
    return static_cast<float>(1.0 / std::sqrt(variance + eps));
}

void run_rms_norm(const Work& work) {
    const float eps = params_of<Op::RMS_NORM>(work.node()).eps;
    by_row(work, *work.node().src[0], [&](const float* in, float* out, int64_t n, const RowIndex&) {
        work.vector.scale(in, rms_factor(work.vector, in, n, eps), 0.0F, out, n);
    });
}

void run_norm(const Work& work) {
    const float eps = params_of<Op::NORM>(work.node()).eps;
    by_row(work, *work.node().src[0], [&](const float* in, float* out, int64_t n, const RowIndex&) {
        const float factor = centre(work.vector, in, n, eps, out);
        work.vector.scale(out, factor, 0.0F, out, n);
    });
}

void run_l2_norm(const Work& work) {
    const double eps = params_of<Op::L2_NORM>(work.node()).eps;
    by_row(work, *work.node().src[0], [&](const float* in, float* out, int64_t n, const RowIndex&) {
        const double length = std::max(std::sqrt(work.vector.sum_of_squares(in, n)), eps);
        work.vector.scale(in, static_cast<float>(1.0 / length), 0.0F, out, n);
    });
}

void run_group_norm(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const auto params = params_of<Op::GROUP_NORM>(node);
    const int64_t groups = params.groups;
    const double eps = params.eps;
    const int64_t per_group = (node.ne[2] + groups - 1) / groups;
    const int64_t n = node.ne[0];
    float* room = work.room(n);
    const auto [first, end] = work.share(groups * node.ne[3]);
    for (int64_t g = first; g < end; ++g) {
        const int64_t i3 = g / groups;
        const int64_t from = (g % groups) * per_group;
        const int64_t to = std::min(from + per_group, node.ne[2]);
        const auto each_row = [&](auto row) {
            for (int64_t i2 = from; i2 < to; ++i2) {
                for (int64_t i1 = 0; i1 < node.ne[1]; ++i1) {
                    row(RowIndex{i1, i2, i3});
                }
            }
        };
        const auto count = static_cast<double>(std::max<int64_t>(to - from, 0) * node.ne[1] * n);
        double sum = 0;
        each_row([&](const RowIndex& i) { sum += work.vector.sum(read_row(a, row_data(a, i), room, work.vector), n); });
        const auto mean = static_cast<float>(sum / count);
        double squares = 0;
        each_row([&](const RowIndex& i) {
            float* out = reinterpret_cast<float*>(row_data(node, i));
            work.vector.scale(read_row(a, row_data(a, i), room, work.vector), 1.0F, -mean, out, n);
            squares += work.vector.sum_of_squares(out, n);
        });
        const auto factor = static_cast<float>(1.0 / std::sqrt(squares / count + eps));
        each_row([&](const RowIndex& i) {
            float* out = reinterpret_cast<float*>(row_data(node, i));
            work.vector.scale(out, factor, 0.0F, out, n);
        });
    }
}

constexpr CpuOperator norm_entries[] = {
    {Op::NORM, "norm", floats_only, run_norm},
    {Op::RMS_NORM, "rms_norm", floats_only, run_rms_norm},
    {Op::L2_NORM, "l2_norm", floats_only, run_l2_norm},
    {Op::GROUP_NORM, "group_norm", f32_rows, run_group_norm},
};

} // namespace

std::span<const CpuOperator> norm_operators() noexcept { return norm_entries; }

void run_norm_group(const Work& work) {
    const fused::Norm parts = fused::norm_parts(work.nodes);
    const bool rms = parts.norm->op == Op::RMS_NORM;
    const float eps = rms ? params_of<Op::RMS_NORM>(*parts.norm).eps : params_of<Op::NORM>(*parts.norm).eps;
    by_row(work, *parts.x, [&](const float* in, float* out, int64_t n, const RowIndex& i) {
        float* room = work.scratch.floats.data() + 2 * n;
        const VectorOps& v = work.vector;
        const float* weight = read_row(*parts.weight, repeated_row(*parts.weight, i), nullptr, v);
        // Weight and bias may lie where the result goes: it is written in one go at the end.
        float* product = parts.bias != nullptr ? room : out;
        if (rms) {
            v.scale_multiply(in, rms_factor(v, in, n, eps), weight, product, n);
        } else {
            v.scale_multiply(room, centre(v, in, n, eps, room), weight, product, n);
        }
        if (parts.bias != nullptr) {
            v.add(product, read_row(*parts.bias, repeated_row(*parts.bias, i), nullptr, v), out, n);
        }
    });
}

} // namespace schedscope::cpu
