#include "tests/runtime/backend/ops/op_reference_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

namespace schedscope::test {

double alibi_slope(double max_bias, int64_t head, int64_t n_heads) {
    if (max_bias <= 0) {
        return 1;
    }
    int64_t power = 1; // the largest power of two that is not more than the heads
    while (2 * power <= n_heads) {
        power *= 2;
    }
    const auto n = static_cast<double>(power);
    return head < power ? std::exp2(-max_bias / n * static_cast<double>(head + 1))
                        : std::exp2(-max_bias / 2 / n * static_cast<double>(2 * (head - power) + 1));
}

namespace {

using Row = std::vector<double>;

struct RowPlace {
    int64_t i1, i2, i3;
};

/// Each row of source 0 to a row of the result.
bool by_row(Operands& o, const std::function<Row(const Row&, RowPlace)>& f) {
    const Elements& a = o.a();
    for (int64_t i3 = 0; i3 < a.ne[3]; ++i3) {
        for (int64_t i2 = 0; i2 < a.ne[2]; ++i2) {
            for (int64_t i1 = 0; i1 < a.ne[1]; ++i1) {
                Row in;
                for (int64_t i0 = 0; i0 < a.ne[0]; ++i0) {
                    in.push_back(a.at(i0, i1, i2, i3));
                }
                const Row out = f(in, {i1, i2, i3});
                for (size_t i0 = 0; i0 < out.size(); ++i0) {
                    o.result.at(static_cast<int64_t>(i0), i1, i2, i3) = out[i0];
                }
            }
        }
    }
    return true;
}

double total(const Row& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean(const Row& x) { return total(x) / static_cast<double>(x.size()); }
double squares(const Row& x) {
    return std::accumulate(x.begin(), x.end(), 0.0, [](double sum, double v) { return sum + v * v; });
}
Row affine(Row x, double factor, double bias) {
    for (double& v : x) {
        v = v * factor + bias;
    }
    return x;
}

Row centred(const Row& x) { return affine(x, 1, -mean(x)); }

Row sorted_ids(const Row& x, bool descending) {
    Row ids(x.size());
    std::iota(ids.begin(), ids.end(), 0.0);
    std::stable_sort(ids.begin(), ids.end(), [&](double i, double j) {
        const double u = x[static_cast<size_t>(i)];
        const double v = x[static_cast<size_t>(j)];
        return descending ? u > v : u < v;
    });
    return ids;
}

bool group_norm(Operands& o) {
    const Elements& a = o.a();
    const int64_t groups = o.integer(0);
    const int64_t channels = (a.ne[2] + groups - 1) / groups;
    for (int64_t i3 = 0; i3 < a.ne[3]; ++i3) {
        for (int64_t first = 0; first < a.ne[2]; first += channels) {
            const int64_t end = std::min(first + channels, a.ne[2]);
            Row all;
            for (int64_t i2 = first; i2 < end; ++i2) {
                for (int64_t i = 0; i < a.ne[0] * a.ne[1]; ++i) {
                    all.push_back(a.at(i % a.ne[0], i / a.ne[0], i2, i3));
                }
            }
            const Row c = centred(all);
            const double factor = 1 / std::sqrt(squares(c) / static_cast<double>(c.size()) + o.number(1));
            size_t next = 0;
            for (int64_t i2 = first; i2 < end; ++i2) {
                for (int64_t i = 0; i < a.ne[0] * a.ne[1]; ++i) {
                    o.result.at(i % a.ne[0], i / a.ne[0], i2, i3) = c[next++] * factor;
                }
            }
        }
    }
    return true;
}

bool soft_max(Operands& o) {
    return by_row(o, [&](const Row& in, RowPlace p) {
        Row x = affine(in, o.number(0), 0);
        if (o.has(1)) {
            const double slope = alibi_slope(o.number(1), p.i2, o.a().ne[2]);
            const Elements& mask = o.b();
            for (size_t i = 0; i < x.size(); ++i) {
                x[i] += slope * mask.at(static_cast<int64_t>(i), p.i1, p.i2 % mask.ne[2], p.i3 % mask.ne[3]);
            }
        }
        double top = *std::max_element(x.begin(), x.end());
        const double sink = o.has(2) ? o.sources[2].values[static_cast<size_t>(p.i2)] : -HUGE_VAL;
        top = std::max(top, sink);
        const bool masked = std::all_of(x.begin(), x.end(), [](double v) { return v == -HUGE_VAL; });
        if (masked && sink == -HUGE_VAL) { // nothing gets a share
            return Row(x.size(), 0.0);
        }
        for (double& v : x) {
            v = std::exp(v - top);
        }
        return affine(x, 1 / (total(x) + std::exp(sink - top)), 0);
    });
}

/// The angle of one pair, and how long the turned pair becomes.
struct Turn {
    double angle, length;
};

Turn turn_of(const Operands& o, int64_t pair, double position) {
    const double n_dims = o.integer(1);
    const double base = o.number(5);
    const double freq_scale = o.number(6);
    const double extrapolated = o.number(7);
    const double factor = o.has(2) ? o.sources[2].values[static_cast<size_t>(pair)] : 1.0;
    const auto p = static_cast<double>(pair);
    const double angle = position / std::pow(base, 2 * p / n_dims) / factor;
    if (extrapolated == 0) {
        return {angle * freq_scale, o.number(8)};
    }
    // YaRN: pairs that turn often within the original context keep their angle, pairs that turn seldom are stretched.
    const auto pair_turning = [&](double turns) {
        return n_dims * std::log(o.integer(4) / (2 * std::numbers::pi * turns)) / (2 * std::log(base));
    };
    const double low = std::max(0.0, std::floor(pair_turning(o.number(9))));
    const double high = std::min(n_dims - 1, std::ceil(pair_turning(o.number(10))));
    const double kept = extrapolated * (1 - std::min(1.0, std::max(0.0, (p - low) / std::max(0.001, high - low))));
    return {angle * freq_scale * (1 - kept) + angle * kept, o.number(8) * (1 + 0.1 * std::log(1 / freq_scale))};
}

bool rope(Operands& o) {
    const auto n_dims = static_cast<size_t>(o.integer(1));
    const bool halves = o.integer(2) == 2;
    return by_row(o, [&](const Row& in, RowPlace place) {
        Row out = in;
        for (size_t pair = 0; pair < n_dims / 2; ++pair) {
            const size_t first = halves ? pair : 2 * pair;
            const size_t second = halves ? pair + n_dims / 2 : 2 * pair + 1;
            const Turn turn = turn_of(o, static_cast<int64_t>(pair), o.b().values[static_cast<size_t>(place.i2)]);
            out[first] = turn.length * (in[first] * std::cos(turn.angle) - in[second] * std::sin(turn.angle));
            out[second] = turn.length * (in[first] * std::sin(turn.angle) + in[second] * std::cos(turn.angle));
        }
        return out;
    });
}

} // namespace

bool evaluate_rows(Operands& o) {
    const double eps = o.number(0);
    switch (o.node.op) {
    case Op::NORM:
        return by_row(o, [&](const Row& x, RowPlace) {
            const Row c = centred(x);
            return affine(c, 1 / std::sqrt(squares(c) / static_cast<double>(c.size()) + eps), 0);
        });
    case Op::RMS_NORM:
        return by_row(o, [&](const Row& x, RowPlace) {
            return affine(x, 1 / std::sqrt(squares(x) / static_cast<double>(x.size()) + eps), 0);
        });
    case Op::L2_NORM:
        return by_row(o, [&](const Row& x, RowPlace) { return affine(x, 1 / std::max(std::sqrt(squares(x)), eps), 0); });
    case Op::GROUP_NORM: return group_norm(o);
    case Op::SOFT_MAX: return soft_max(o);
    case Op::ROPE: return rope(o);
    case Op::SUM_ROWS: return by_row(o, [](const Row& x, RowPlace) { return Row{total(x)}; });
    case Op::MEAN: return by_row(o, [](const Row& x, RowPlace) { return Row{mean(x)}; });
    case Op::SUM: o.result.values = {total(o.a().values)}; return true;
    case Op::CUMSUM:
        return by_row(o, [](const Row& x, RowPlace) {
            Row sums(x.size());
            std::partial_sum(x.begin(), x.end(), sums.begin());
            return sums;
        });
    case Op::ARGMAX:
        for (int64_t i1 = 0; i1 < o.a().ne[1]; ++i1) {
            const auto row = o.a().values.begin() + i1 * o.a().ne[0];
            o.result.values[static_cast<size_t>(i1)] = static_cast<double>(std::max_element(row, row + o.a().ne[0]) - row);
        }
        return true;
    case Op::ARGSORT: return by_row(o, [&](const Row& x, RowPlace) { return sorted_ids(x, o.integer(0) != 0); });
    case Op::TOP_K:
        return by_row(o, [&](const Row& x, RowPlace) {
            Row ids = sorted_ids(x, true);
            ids.resize(static_cast<size_t>(o.result.ne[0]));
            return ids;
        });
    default: return false;
    }
}

} // namespace schedscope::test
