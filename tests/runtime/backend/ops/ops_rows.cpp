#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

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

bool evaluate_rows(Operands& o) {
    switch (o.node.op) {
    case Op::GET_ROWS: return get_rows(o);
    case Op::SET_ROWS: return set_rows(o);
    default: return false;
    }
}

void add_rows_cases(std::vector<OpCase>& cases) {
    for (const Type type : expandable_types()) {
        const std::string name(type_name(type));
        cases.push_back({Op::GET_ROWS, name, [=](Graph& g, Leafs& l) {
                             return ops::get_rows(g, l.floats(type, {256, 9, 1, 1}), l.ids({5, 1, 1, 1}, 9));
                         }});
        cases.push_back({Op::GET_ROWS, name + " of several matrices", [=](Graph& g, Leafs& l) {
                             return ops::get_rows(g, l.floats(type, {512, 6, 2, 3}), l.ids({4, 2, 3, 1}, 6));
                         }});
    }
    for (const Type type : {Type::F32, Type::F16, Type::I32}) {
        const auto leaf = [type](Leafs& l, const Shape& ne) { return type == Type::I32 ? l.ids(ne, 1000) : l.floats(type, ne); };
        cases.push_back({Op::GET_ROWS, std::string(type_name(type)) + " odd rows", [=](Graph& g, Leafs& l) {
                             return ops::get_rows(g, leaf(l, {37, 9, 1, 1}), l.ids({5, 1, 1, 1}, 9));
                         }});
        cases.push_back({Op::GET_ROWS, std::string(type_name(type)) + " of a transposed table", [=](Graph& g, Leafs& l) {
                             return ops::get_rows(g, ops::transpose(g, leaf(l, {9, 37, 1, 1})), l.ids({5, 1, 1, 1}, 9));
                         }});
        cases.push_back({Op::GET_ROWS, std::string(type_name(type)) + " single values", [=](Graph& g, Leafs& l) {
                             return ops::get_rows(g, leaf(l, {1, 8, 6, 1}), l.ids({2, 6, 1, 1}, 8));
                         }});
        cases.push_back(
            {Op::GET_ROWS, std::string(type_name(type)) + " a view of a table, a view of ids", [=](Graph& g, Leafs& l) {
                 Tensor* table = leaf(l, {37, 9, 1, 1});
                 Tensor* ids = l.ids({8, 3, 1, 1}, 4);
                 return ops::get_rows(g, ops::view_2d(g, table, 20, 4, 2 * table->nb[1], table->nb[1]),
                                      ops::view_1d(g, ids, 5, 12));
             }});
    }
    cases.push_back({Op::GET_ROWS, "large", [](Graph& g, Leafs& l) {
                         return ops::get_rows(g, l.floats(Type::Q8_0, {2048, 50, 1, 1}), l.ids({100, 1, 1, 1}, 50));
                     }});

    for (const Type to : expandable_types()) {
        if (!can_quantise(to)) {
            continue;
        }
        for (const Type id : {Type::I64, Type::I32}) {
            const std::string name = std::string(type_name(to)) + " by " + std::string(type_name(id));
            cases.push_back({Op::SET_ROWS, name, [=](Graph& g, Leafs& l) {
                                 return ops::set_rows(g, l.floats(to, {256, 11, 1, 1}), l.f32({256, 4, 1, 1}),
                                                      l.distinct_ids({4, 1, 1, 1}, 11, id));
                             }});
            cases.push_back({Op::SET_ROWS, name + ", ids for all matrices", [=](Graph& g, Leafs& l) {
                                 return ops::set_rows(g, l.floats(to, {256, 7, 4, 2}), l.f32({256, 3, 4, 2}),
                                                      l.distinct_ids({3, 2, 1, 1}, 7, id));
                             }});
        }
    }
    for (const Type to : {Type::F32, Type::F16, Type::BF16}) {
        cases.push_back({Op::SET_ROWS, std::string(type_name(to)) + " single values", [=](Graph& g, Leafs& l) {
                             return ops::set_rows(g, l.floats(to, {1, 64, 1, 1}), l.f32({1, 20, 1, 1}),
                                                  l.distinct_ids({20, 1, 1, 1}, 64, Type::I64));
                         }});
        cases.push_back({Op::SET_ROWS, std::string(type_name(to)) + " single values, I32 numbers", [=](Graph& g, Leafs& l) {
                             return ops::set_rows(g, l.floats(to, {1, 300, 1, 1}), l.f32({1, 20, 1, 1}),
                                                  l.distinct_ids({20, 1, 1, 1}, 300, Type::I32));
                         }});
        cases.push_back({Op::SET_ROWS, std::string(type_name(to)) + " into a view, from a view", [=](Graph& g, Leafs& l) {
                             Tensor* cache = l.floats(to, {48, 20, 1, 1});
                             Tensor* rows = l.f32({50, 3, 1, 1});
                             return ops::set_rows(g, ops::view_2d(g, cache, 33, 9, 2 * cache->nb[1], cache->nb[1]),
                                                  ops::view_2d(g, rows, 33, 3, 200, 16),
                                                  l.distinct_ids({3, 1, 1, 1}, 9, Type::I64));
                         }});
        cases.push_back({Op::SET_ROWS, std::string(type_name(to)) + " large", [=](Graph& g, Leafs& l) {
                             return ops::set_rows(g, l.floats(to, {512, 400, 1, 1}), l.f32({512, 300, 1, 1}),
                                                  l.distinct_ids({300, 1, 1, 1}, 400, Type::I64));
                         }});
    }
}

} // namespace

const OpFamily rows_ops{evaluate_rows, add_rows_cases};

} // namespace schedscope::test
