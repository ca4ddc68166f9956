#include "tests/runtime/backend/ops/op_rows.h"

#include "runtime/tensor/ops.h"

#include <cmath>
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

const std::vector<Shape>& row_shapes() {
    static const std::vector<Shape> all = {{1, 1, 1, 1},   {5, 3, 1, 1},    {32, 2, 2, 2},   {63, 1, 3, 1},
                                           {257, 4, 1, 2}, {1024, 3, 1, 1}, {5000, 1, 1, 1}, {768, 200, 1, 1}};
    return all;
}

void add_over_shapes(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low, float high) {
    for (const Shape& ne : row_shapes()) {
        cases.push_back(
            {op, prefix + shape_text(ne), [=](Graph& g, Leafs& l) { return make(g, l.floats(Type::F32, ne, low, high)); }});
    }
}

void add_over_layouts(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low, float high) {
    cases.push_back(
        {op, prefix + "rows with gaps", [=](Graph& g, Leafs& l) {
             return make(g, ops::view_3d(g, l.floats(Type::F32, {80, 4, 3, 1}, low, high), 65, 2, 3, 2 * 320, 4 * 320, 20));
         }});
    cases.push_back({op, prefix + "permuted", [=](Graph& g, Leafs& l) {
                         return make(g, ops::permute(g, l.floats(Type::F32, {40, 3, 5, 1}, low, high), 0, 2, 1, 3));
                     }});
}

void add_transposed(std::vector<OpCase>& cases, Op op, const Make& make) {
    cases.push_back({op, "transposed", [=](Graph& g, Leafs& l) { return make(g, ops::transpose(g, l.f32({6, 70, 2, 1}))); }});
}

double dot(const Elements& a, int64_t a1, int64_t a2, int64_t a3, const Elements& b, int64_t b1, int64_t b2, int64_t b3) {
    double sum = 0;
    for (int64_t k = 0; k < a.ne[0]; ++k) {
        sum += a.at(k, a1, a2, a3) * b.at(k, b1, b2, b3);
    }
    return sum;
}

} // namespace schedscope::test
