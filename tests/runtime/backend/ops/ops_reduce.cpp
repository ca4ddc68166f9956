#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"
#include "tests/runtime/backend/ops/op_rows.h"

#include <algorithm>
#include <numeric>

namespace schedscope::test {

namespace {

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

bool evaluate_reduce(Operands& o) {
    switch (o.node.op) {
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

void add_reduce_cases(std::vector<OpCase>& cases) {
    using Reduce = Tensor* (*)(Graph&, Tensor*);
    const std::pair<Op, Reduce> sums[] = {
        {Op::SUM_ROWS, ops::sum_rows}, {Op::SUM, ops::sum}, {Op::MEAN, ops::mean}, {Op::CUMSUM, ops::cumsum}};
    for (const auto& [op, reduce] : sums) {
        add_over_shapes(cases, op, "", reduce);
        add_over_layouts(cases, op, "", reduce);
        add_transposed(cases, op, reduce);
    }
    for (const Shape& ne : {Shape{1, 1, 1, 1}, Shape{33, 7, 1, 1}, Shape{32000, 3, 1, 1}, Shape{1000, 500, 1, 1}}) {
        cases.push_back({Op::ARGMAX, shape_text(ne), [=](Graph& g, Leafs& l) { return ops::argmax(g, l.f32(ne)); }});
    }
    cases.push_back({Op::ARGMAX, "negative numbers", [](Graph& g, Leafs& l) {
                         return ops::argmax(g, l.floats(Type::F32, {70, 4, 1, 1}, -9, -8));
                     }});
    cases.push_back({Op::ARGMAX, "minus infinity", [](Graph& g, Leafs& l) {
                         return ops::argmax(g, l.mask(Type::F32, {500, 4, 1, 1}));
                     }});
    cases.push_back({Op::CUMSUM, "of a vocabulary's probabilities", [](Graph& g, Leafs& l) {
                         return ops::cumsum(g, ops::soft_max(g, l.floats(Type::F32, {50000, 1, 1, 1}, -9, 9), nullptr, 1, 0));
                     }});
    for (const bool descending : {false, true}) {
        cases.push_back({Op::ARGSORT,
                         std::string(descending ? "descending" : "ascending") + " with minus infinity and equal values",
                         [=](Graph& g, Leafs& l) {
                             return ops::argsort(g, l.mask(Type::F32, {400, 2, 1, 1}), descending);
                         }});
        for (const Shape& ne :
             {Shape{1, 1, 1, 1}, Shape{8, 5, 1, 1}, Shape{61, 3, 2, 2}, Shape{1024, 2, 1, 1}, Shape{128, 900, 1, 1}}) {
            cases.push_back({Op::ARGSORT, (descending ? "descending " : "ascending ") + shape_text(ne),
                             [=](Graph& g, Leafs& l) { return ops::argsort(g, l.f32(ne), descending); }});
        }
    }
    cases.push_back({Op::TOP_K, "with minus infinity and equal values", [](Graph& g, Leafs& l) {
                         return ops::top_k(g, l.mask(Type::F32, {3000, 2, 1, 1}), 2500);
                     }});
    for (const auto& [k, ne] : {std::pair{1, Shape{1, 1, 1, 1}},
                                {2, Shape{8, 33, 1, 1}},
                                {8, Shape{60, 5, 2, 1}},
                                {40, Shape{4000, 2, 1, 1}},
                                {7, Shape{7, 3, 1, 1}},
                                {100, Shape{300, 400, 1, 1}}}) {
        cases.push_back({Op::TOP_K, std::to_string(k) + " of " + shape_text(ne),
                         [k = k, ne = ne](Graph& g, Leafs& l) { return ops::top_k(g, l.f32(ne), k); }});
    }
}

} // namespace

const OpFamily reduce_ops{evaluate_reduce, add_reduce_cases};

} // namespace schedscope::test
