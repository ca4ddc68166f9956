#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"
#include "tests/runtime/backend/ops/op_rows.h"

#include <algorithm>
#include <cmath>

namespace schedscope::test {

namespace {

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

bool evaluate_norm(Operands& o) {
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
    default: return false;
    }
}

void add_norm_cases(std::vector<OpCase>& cases) {
    using Norm = Tensor* (*)(Graph&, Tensor*, float);
    const std::pair<Op, Norm> norms[] = {{Op::NORM, ops::norm}, {Op::RMS_NORM, ops::rms_norm}, {Op::L2_NORM, ops::l2_norm}};
    for (const auto& [op, norm] : norms) {
        for (const float eps : {1e-6F, 0.1F}) {
            const Make make = [norm = norm, eps](Graph& g, Tensor* a) { return norm(g, a, eps); };
            const std::string prefix = eps < 0.01F ? "" : "large eps, ";
            add_over_shapes(cases, op, prefix, make);
            add_over_layouts(cases, op, prefix, make);
        }
        cases.push_back({op, "far from zero", [norm = norm](Graph& g, Leafs& l) {
                             return norm(g, l.floats(Type::F32, {512, 4, 1, 1}, 100, 101), 1e-5F);
                         }});
        cases.push_back({op, "smaller than eps", [norm = norm](Graph& g, Leafs& l) {
                             return norm(g, l.floats(Type::F32, {64, 4, 1, 1}, -1e-4F, 1e-4F), 1e-2F);
                         }});
    }
    for (const auto& [groups, channels] : {std::pair{1, 4}, {4, 4}, {2, 6}, {3, 8}, {32, 64}}) {
        cases.push_back({Op::GROUP_NORM, std::to_string(groups) + " groups of " + std::to_string(channels) + " channels",
                         [groups = groups, channels = channels](Graph& g, Leafs& l) {
                             return ops::group_norm(g, l.floats(Type::F32, {37, 49, channels, 2}, -1, 4), groups, 1e-5F);
                         }});
    }
}

} // namespace

const OpFamily norm_ops{evaluate_norm, add_norm_cases};

} // namespace schedscope::test
