#include "runtime/tensor/ops_build.h"

#include "runtime/numbers.h"

namespace schedscope::ops {

namespace {

/// Places where a kernel of `k` fits when it steps by s over n with p zeros at both ends and d between its taps.
int64_t conv_size(int64_t n, int64_t k, int s, int p, int d) noexcept { return (n + 2 * int64_t{p} - d * (k - 1) - 1) / s + 1; }

/// As precise as the kernel is; a product takes F16 on both sides.
Type columns_type(const Tensor& kernel) noexcept { return kernel.type == Type::F16 ? Type::F16 : Type::F32; }

} // namespace

Tensor* im2col(Graph& g, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0, int d1, bool is_2d, Type type) {
    const Tensor& a = *kernel;
    const Tensor& b = *image;
    if (s0 <= 0 || d0 <= 0 || p0 < 0 || (is_2d && (s1 <= 0 || d1 <= 0 || p1 < 0))) {
        refuse(Op::IM2COL, "stride, padding or dilation is out of range");
    }
    if (is_2d ? a.ne[2] != b.ne[2] : a.ne[1] != b.ne[1] || b.ne[3] != 1) {
        refuse(Op::IM2COL, "kernel " + described(a) + " and image " + described(b) + " differ in channels");
    }
    if (type != Type::F32 && type != Type::F16 && type != Type::BF16) {
        refuse(Op::IM2COL, "columns can't be " + std::string(type_name(type)));
    }
    const int64_t width = conv_size(b.ne[0], a.ne[0], s0, p0, d0);
    const int64_t height = is_2d ? conv_size(b.ne[1], a.ne[1], s1, p1, d1) : 1;
    if (b.ne[0] + 2 * int64_t{p0} < d0 * (a.ne[0] - 1) + 1 || (is_2d && b.ne[1] + 2 * int64_t{p1} < d1 * (a.ne[1] - 1) + 1)) {
        refuse(Op::IM2COL, "kernel " + described(a) + " is larger than image " + described(b));
    }
    const Shape ne =
        is_2d ? Shape{a.ne[2] * a.ne[1] * a.ne[0], width, height, b.ne[3]} : Shape{a.ne[1] * a.ne[0], width, b.ne[2], 1};
    Tensor* t = make_result(g, Op::IM2COL, type, ne, {kernel, image});
    t->params = packed<Op::IM2COL>(
        {.stride_0 = s0, .stride_1 = s1, .pad_0 = p0, .pad_1 = p1, .dilation_0 = d0, .dilation_1 = d1, .is_2d = is_2d ? 1 : 0});
    return t;
}

Tensor* conv_2d(Graph& g, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0, int d1) {
    const Shape& k = kernel->ne;
    Tensor* columns = im2col(g, kernel, image, s0, s1, p0, p1, d0, d1, true, columns_type(*kernel));
    const Shape c = columns->ne;
    // Flat patches by flat kernels: [patches, out channels].
    Tensor* patches = reshape(g, columns, {c[0], c[1] * c[2] * c[3], 1, 1});
    Tensor* kernels = reshape(g, kernel, {k[0] * k[1] * k[2], k[3], 1, 1});
    Tensor* product = mul_mat(g, patches, kernels);
    Tensor* by_channel = reshape(g, product, {c[1], c[2], c[3], k[3]});
    return cont(g, permute(g, by_channel, 0, 1, 3, 2));
}

Tensor* conv_2d_dw(Graph& g, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0, int d1) {
    const Shape& k = kernel->ne;
    const Shape& b = image->ne;
    // Each channel is an image of its own, under a kernel of its own.
    Tensor* kernels = reshape(g, kernel, {k[0], k[1], 1, k[2] * k[3]});
    Tensor* images = reshape(g, image, {b[0], b[1], 1, b[2] * b[3]});
    Tensor* columns = im2col(g, kernels, images, s0, s1, p0, p1, d0, d1, true, columns_type(*kernel));
    const Shape c = columns->ne;
    Tensor* patches = reshape(g, columns, {c[0], c[2] * c[1], b[2], b[3]});
    Tensor* flat = reshape(g, kernels, {k[0] * k[1], 1, k[2] * k[3], 1});
    Tensor* product = mul_mat(g, flat, patches);
    return reshape(g, product, {c[1], c[2], b[2], b[3]});
}

Tensor* pool_2d(Graph& g, Tensor* a, Pool kind, int k0, int k1, int s0, int s1, float p0, float p1) {
    const auto places = [](int64_t n, int k, int s, float p) {
        return static_cast<int64_t>((static_cast<float>(n) + 2 * p - static_cast<float>(k)) / static_cast<float>(s) + 1);
    };
    require_float(Op::POOL_2D, *a);
    if (k0 <= 0 || k1 <= 0 || s0 <= 0 || s1 <= 0 || !(p0 >= 0) || !(p1 >= 0)) {
        refuse(Op::POOL_2D, "window, stride or padding is out of range");
    }
    const Shape ne{places(a->ne[0], k0, s0, p0), places(a->ne[1], k1, s1, p1), a->ne[2], a->ne[3]};
    if (ne[0] <= 0 || ne[1] <= 0) {
        refuse(Op::POOL_2D, "the window is larger than " + described(*a));
    }
    Tensor* t = make_result(g, Op::POOL_2D, Type::F32, ne, {a});
    t->params = packed<Op::POOL_2D>({.kind = kind,
                                     .window_0 = k0,
                                     .window_1 = k1,
                                     .stride_0 = s0,
                                     .stride_1 = s1,
                                     .pad_0 = static_cast<int32_t>(p0),
                                     .pad_1 = static_cast<int32_t>(p1)});
    return t;
}

} // namespace schedscope::ops
