#include "runtime/backend/cpu/kernels/operators.h"

#include <algorithm>
#include <limits>

namespace schedscope::cpu {

namespace {

/// A value of the image, 0 outside of it.
float pixel(const Tensor& image, int64_t x, int64_t y, const std::byte* plane, size_t row_stride) {
    if (x < 0 || x >= image.ne[0] || y < 0 || row_stride == 0) {
        return 0.0F;
    }
    return read_as<float>(plane + y * row_stride + x * image.nb[0]);
}

void run_im2col(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& kernel = *node.src[0];
    const Tensor& image = *node.src[1];
    const auto p = params_of<Op::IM2COL>(node);
    const int64_t s0 = p.stride_0, s1 = p.stride_1, p0 = p.pad_0, p1 = p.pad_1, d0 = p.dilation_0, d1 = p.dilation_1;
    const bool two = p.is_2d != 0;
    const int64_t channels = image.ne[two ? 2 : 1];
    const int64_t height = two ? image.ne[1] : 1;
    const int64_t kw = kernel.ne[0];
    const int64_t kh = two ? kernel.ne[1] : 1;
    const int64_t ow = node.ne[1];
    const int64_t oh = two ? node.ne[2] : 1;
    const size_t channel_stride = image.nb[two ? 2 : 1];
    const size_t image_stride = image.nb[two ? 3 : 2];
    const size_t row_stride = two ? image.nb[1] : 1;
    float* room = work.room(node.ne[0]);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const int64_t ox = r % ow;
        const int64_t oy = r / ow % oh;
        const int64_t n = r / ow / oh;
        for (int64_t c = 0; c < channels; ++c) {
            const std::byte* plane = host_data(image) + n * image_stride + c * channel_stride;
            for (int64_t y = 0; y < kh; ++y) {
                const int64_t iy = two ? oy * s1 + y * d1 - p1 : 0;
                for (int64_t x = 0; x < kw; ++x) {
                    room[(c * kh + y) * kw + x] = iy < height ? pixel(image, ox * s0 + x * d0 - p0, iy, plane, row_stride) : 0.0F;
                }
            }
        }
        write_row(node, row_data(node, row_index(node, r)), room, work.vector);
    }
}

void run_pool_2d(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const auto p = params_of<Op::POOL_2D>(node);
    const bool maximum = p.kind == Pool::max;
    const int64_t k0 = p.window_0, k1 = p.window_1, s0 = p.stride_0, s1 = p.stride_1, p0 = p.pad_0, p1 = p.pad_1;
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        auto* out = reinterpret_cast<float*>(row_data(node, i));
        for (int64_t ox = 0; ox < node.ne[0]; ++ox) {
            float best = -std::numeric_limits<float>::max();
            float sum = 0;
            for (int64_t y = std::max<int64_t>(0, i.i1 * s1 - p1); y < std::min(a.ne[1], i.i1 * s1 - p1 + k1); ++y) {
                for (int64_t x = std::max<int64_t>(0, ox * s0 - p0); x < std::min(a.ne[0], ox * s0 - p0 + k0); ++x) {
                    const auto value = read_as<float>(row_data(a, {y, i.i2, i.i3}) + x * a.nb[0]);
                    best = std::max(best, value);
                    sum += value;
                }
            }
            out[ox] = maximum ? best : sum / static_cast<float>(k0 * k1);
        }
    }
}

Answer supports_im2col(const Tensor& node) {
    if (node.src[1]->type != Type::F32) {
        return Answer::no(Refusal::type, "the image is not f32");
    }
    return is_float(node.type) ? yes : Answer::no(Refusal::type, "the result is not of a float type");
}

constexpr CpuOperator image_entries[] = {
    {Op::IM2COL, "im2col", supports_im2col, run_im2col},
    {Op::POOL_2D, "pool_2d", f32_rows, run_pool_2d},
};

} // namespace

std::span<const CpuOperator> image_operators() noexcept { return image_entries; }

} // namespace schedscope::cpu
