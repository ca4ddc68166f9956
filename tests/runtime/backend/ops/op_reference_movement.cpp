#include "tests/runtime/backend/ops/op_reference_parts.h"

#include <algorithm>
#include <cmath>

namespace schedscope::test {

namespace {

bool get_rows(Operands& o) {
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        return o.a().at(i0, static_cast<int64_t>(o.b().at(i1, i2, i3, 0)), i2, i3);
    });
    return true;
}

bool set_rows(Operands& o) {
    const Elements& rows = o.a();
    const Elements& ids = o.b();
    o.result = o.sources[2];
    for (int64_t i3 = 0; i3 < rows.ne[3]; ++i3) {
        for (int64_t i2 = 0; i2 < rows.ne[2]; ++i2) {
            for (int64_t i1 = 0; i1 < rows.ne[1]; ++i1) {
                const auto id = static_cast<int64_t>(ids.repeated(i1, i2, i3, 0));
                for (int64_t i0 = 0; i0 < rows.ne[0]; ++i0) {
                    o.result.at(i0, id, i2, i3) = rows.at(i0, i1, i2, i3);
                }
            }
        }
    }
    return true;
}

bool concat(Operands& o) {
    const auto dim = static_cast<size_t>(o.integer(0));
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        Shape i{i0, i1, i2, i3};
        const int64_t split = o.a().ne[dim];
        if (i[dim] < split) {
            return o.a().at(i0, i1, i2, i3);
        }
        i[dim] -= split;
        return o.b().at(i[0], i[1], i[2], i[3]);
    });
    return true;
}

bool pad(Operands& o) {
    o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        const Shape i{i0 - o.integer(0), i1 - o.integer(2), i2 - o.integer(4), i3 - o.integer(6)};
        for (size_t d = 0; d < i.size(); ++d) {
            if (i[d] < 0 || i[d] >= o.a().ne[d]) {
                return 0.0;
            }
        }
        return o.a().at(i[0], i[1], i[2], i[3]);
    });
    return true;
}

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

} // namespace

bool evaluate_movement(Operands& o) {
    switch (o.node.op) {
    case Op::CPY:
    case Op::CONT:
    case Op::DUP: o.result.values = o.a().values; return true;
    case Op::REPEAT:
        o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return o.a().repeated(i0, i1, i2, i3); });
        return true;
    case Op::CONCAT: return concat(o);
    case Op::GET_ROWS: return get_rows(o);
    case Op::SET_ROWS: return set_rows(o);
    case Op::PAD: return pad(o);
    case Op::FILL: o.for_each([&](int64_t, int64_t, int64_t, int64_t) { return o.number(0); }); return true;
    case Op::ARANGE:
        o.for_each([&](int64_t i, int64_t, int64_t, int64_t) { return o.number(0) + o.number(2) * static_cast<double>(i); });
        return true;
    case Op::IM2COL: return im2col(o);
    case Op::POOL_2D: return pool_2d(o);
    default: return false;
    }
}

} // namespace schedscope::test
