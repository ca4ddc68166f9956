#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace schedscope::test {

namespace {

bool im2col(Operands& o) {
    const Shape& kernel = o.a().ne;
    const Elements& image = o.b();
    const int64_t s0 = o.integer(0), s1 = o.integer(1), p0 = o.integer(2), p1 = o.integer(3), d0 = o.integer(4),
                  d1 = o.integer(5);
    if (o.integer(6) == 0) { // [kw × channels, ow, n] of [w, channels, n]
        o.for_each([&](int64_t i0, int64_t ox, int64_t n, int64_t) {
            const int64_t x = ox * s0 - p0 + i0 % kernel[0] * d0;
            return x >= 0 && x < image.ne[0] ? image.at(x, i0 / kernel[0], n, 0) : 0.0;
        });
        return true;
    }
    o.for_each([&](int64_t i0, int64_t ox, int64_t oy, int64_t n) {
        const int64_t x = ox * s0 - p0 + i0 % kernel[0] * d0;
        const int64_t y = oy * s1 - p1 + i0 / kernel[0] % kernel[1] * d1;
        const int64_t channel = i0 / kernel[0] / kernel[1];
        return x >= 0 && x < image.ne[0] && y >= 0 && y < image.ne[1] ? image.at(x, y, channel, n) : 0.0;
    });
    return true;
}

bool pool_2d(Operands& o) {
    const bool largest = o.integer(0) == 0;
    const int64_t k0 = o.integer(1), k1 = o.integer(2), s0 = o.integer(3), s1 = o.integer(4), p0 = o.integer(5),
                  p1 = o.integer(6);
    o.for_each([&](int64_t ox, int64_t oy, int64_t channel, int64_t n) {
        double top = -HUGE_VAL;
        double sum = 0;
        for (int64_t y = oy * s1 - p1; y < oy * s1 - p1 + k1; ++y) {
            for (int64_t x = ox * s0 - p0; x < ox * s0 - p0 + k0; ++x) {
                if (x >= 0 && x < o.a().ne[0] && y >= 0 && y < o.a().ne[1]) {
                    top = std::max(top, o.a().at(x, y, channel, n));
                    sum += o.a().at(x, y, channel, n);
                }
            }
        }
        return largest ? top : sum / static_cast<double>(k0 * k1);
    });
    return true;
}

bool evaluate_image(Operands& o) {
    switch (o.node.op) {
    case Op::IM2COL: return im2col(o);
    case Op::POOL_2D: return pool_2d(o);
    default: return false;
    }
}

void add_image_cases(std::vector<OpCase>& cases) {
    struct Window {
        int s0, s1, p0, p1, d0, d1;
    };
    const Window windows[] = {{1, 1, 0, 0, 1, 1}, {2, 1, 1, 1, 1, 1}, {1, 3, 2, 0, 2, 1}, {2, 2, 1, 2, 1, 2}};
    for (const Window& w : windows) {
        const std::string name = "strides " + std::to_string(w.s0) + " " + std::to_string(w.s1) + ", padding " +
                                 std::to_string(w.p0) + " " + std::to_string(w.p1) + ", dilation " + std::to_string(w.d0) + " " +
                                 std::to_string(w.d1);
        for (const Type type : {Type::F32, Type::F16}) {
            cases.push_back({Op::IM2COL, std::string(type_name(type)) + " " + name, [=](Graph& g, Leafs& l) {
                                 return ops::im2col(g, l.floats(type, {3, 2, 5, 4}), l.f32({13, 11, 5, 2}), w.s0, w.s1, w.p0,
                                                    w.p1, w.d0, w.d1, true, type);
                             }});
            cases.push_back({Op::IM2COL, std::string(type_name(type)) + " along a line, " + name, [=](Graph& g, Leafs& l) {
                                 return ops::im2col(g, l.floats(type, {3, 5, 4, 1}), l.f32({20, 5, 3, 1}), w.s0, 0, w.p0, 0, w.d0,
                                                    0, false, type);
                             }});
            cases.push_back({Op::IM2COL, std::string(type_name(type)) + " convolution, " + name, [=](Graph& g, Leafs& l) {
                                 return ops::conv_2d(g, l.floats(type, {3, 2, 5, 7}), l.f32({13, 11, 5, 2}), w.s0, w.s1, w.p0,
                                                     w.p1, w.d0, w.d1);
                             }});
            cases.push_back(
                {Op::IM2COL, std::string(type_name(type)) + " depthwise convolution, " + name, [=](Graph& g, Leafs& l) {
                     return ops::conv_2d_dw(g, l.floats(type, {3, 2, 1, 5}), l.f32({13, 11, 5, 2}), w.s0, w.s1, w.p0, w.p1, w.d0,
                                            w.d1);
                 }});
        }
    }
    cases.push_back(
        {Op::IM2COL, "patches of an image", [](Graph& g, Leafs& l) {
             return ops::im2col(g, l.f32({14, 14, 3, 2}), l.f32({112, 98, 3, 1}), 14, 14, 0, 0, 1, 1, true, Type::F32);
         }});
    for (const Pool op : {Pool::max, Pool::avg}) {
        const std::string name = op == Pool::max ? "largest " : "mean ";
        for (const auto& [k, s, p] : {std::tuple{1, 1, 0}, {2, 2, 0}, {3, 2, 1}, {4, 4, 0}, {3, 1, 1}}) {
            cases.push_back({Op::POOL_2D,
                             name + "of " + std::to_string(k) + " by " + std::to_string(s) + ", padding " + std::to_string(p),
                             [=, k = k, s = s, p = p](Graph& g, Leafs& l) {
                                 return ops::pool_2d(g, l.floats(Type::F32, {13, 10, 3, 2}, -3, -1), op, k, k, s, s,
                                                     static_cast<float>(p), static_cast<float>(p));
                             }});
        }
        cases.push_back({Op::POOL_2D, name + "of an oblong window", [=](Graph& g, Leafs& l) {
                             return ops::pool_2d(g, l.f32({13, 10, 3, 2}), op, 3, 2, 1, 2, 0, 1);
                         }});
        cases.push_back({Op::POOL_2D, name + "large", [=](Graph& g, Leafs& l) {
                             return ops::pool_2d(g, l.f32({56, 56, 64, 1}), op, 2, 2, 2, 2, 0, 0);
                         }});
    }
}

} // namespace

const OpFamily image_ops{evaluate_image, add_image_cases};

} // namespace schedscope::test
