#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_families.h"

#include <algorithm>

namespace schedscope::test {

namespace {

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

bool evaluate_move(Operands& o) {
    switch (o.node.op) {
    case Op::CPY:
    case Op::CONT:
    case Op::DUP: o.result.values = o.a().values; return true;
    case Op::REPEAT:
        o.for_each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return o.a().repeated(i0, i1, i2, i3); });
        return true;
    case Op::CONCAT: return concat(o);
    case Op::PAD: return pad(o);
    case Op::FILL: o.for_each([&](int64_t, int64_t, int64_t, int64_t) { return o.number(0); }); return true;
    case Op::ARANGE:
        o.for_each([&](int64_t i, int64_t, int64_t, int64_t) { return o.number(0) + o.number(2) * static_cast<double>(i); });
        return true;
    default: return false;
    }
}

constexpr Type float_types[] = {Type::F32, Type::F16, Type::BF16};

std::string arrow(Type from, Type to) { return std::string(type_name(from)) + " to " + std::string(type_name(to)); }

void add_copies(std::vector<OpCase>& cases) {
    const auto add = [&](Op op, const std::string& name, auto build) { cases.push_back({op, name, build}); };
    for (const Type from : float_types) {
        for (const Type to : float_types) {
            add(Op::CPY, arrow(from, to), [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.floats(from, {37, 5, 2, 1}), l.floats(to, {37, 5, 2, 1}));
            });
            add(Op::CPY, arrow(from, to) + " cast", [=](Graph& g, Leafs& l) {
                return ops::cast(g, l.floats(from, {64, 3, 1, 1}), to);
            });
            add(Op::CPY, arrow(from, to) + " to another shape", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.floats(from, {12, 5, 2, 1}), l.floats(to, {8, 15, 1, 1}));
            });
            add(Op::CPY, arrow(from, to) + " transposed", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, ops::transpose(g, l.floats(from, {9, 33, 2, 1})), l.floats(to, {33, 9, 2, 1}));
            });
            add(Op::CPY, arrow(from, to) + " into a view", [=](Graph& g, Leafs& l) {
                Tensor* cache = l.floats(to, {64, 10, 1, 1});
                const size_t row = row_bytes(to, 64);
                return ops::cpy(g, l.floats(from, {64, 4, 1, 1}), ops::view_2d(g, cache, 64, 4, row, 3 * row));
            });
            add(Op::CPY, arrow(from, to) + " into columns", [=](Graph& g, Leafs& l) {
                Tensor* cache = l.floats(to, {16, 24, 1, 1});
                return ops::cpy(g, ops::transpose(g, l.floats(from, {24, 5, 1, 1})),
                                ops::view_2d(g, cache, 5, 24, row_bytes(to, 16), row_bytes(to, 6)));
            });
            add(Op::CPY, arrow(from, to) + " permuted on both sides", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, ops::permute(g, l.floats(from, {6, 5, 4, 3}), 2, 0, 3, 1),
                                ops::permute(g, l.floats(to, {4, 5, 6, 3}), 1, 2, 0, 3));
            });
        }
        add(Op::CPY, arrow(from, from) + " large", [=](Graph& g, Leafs& l) {
            return ops::cpy(g, ops::permute(g, l.floats(from, {64, 80, 40, 1}), 0, 2, 1, 3), l.floats(from, {64, 40, 80, 1}));
        });
    }
    for (const Type type : expandable_types()) {
        if (!traits(type).quantised()) {
            continue;
        }
        if (can_quantise(type)) {
            add(Op::CPY, arrow(Type::F32, type), [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.f32({512, 3, 2, 1}), l.floats(type, {512, 3, 2, 1}));
            });
            add(Op::CPY, arrow(Type::F32, type) + " zeros", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.floats(Type::F32, {256, 3, 1, 1}, 0, 0), l.floats(type, {256, 3, 1, 1}));
            });
            add(Op::CPY, arrow(Type::F32, type) + " far from zero", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.floats(Type::F32, {256, 9, 1, 1}, 100, 200), l.floats(type, {256, 9, 1, 1}));
            });
            add(Op::CPY, arrow(Type::F32, type) + " of another shape", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, l.f32({128, 4, 2, 1}), l.floats(type, {512, 2, 1, 1}));
            });
            add(Op::CPY, arrow(Type::F32, type) + " permuted", [=](Graph& g, Leafs& l) {
                return ops::cpy(g, ops::permute(g, l.f32({256, 3, 4, 1}), 0, 2, 1, 3), l.floats(type, {256, 4, 3, 1}));
            });
        }
        add(Op::CPY, arrow(type, Type::F32), [=](Graph& g, Leafs& l) {
            return ops::cpy(g, l.floats(type, {256, 3, 2, 1}), l.f32({256, 3, 2, 1}));
        });
        add(Op::CPY, arrow(type, type), [=](Graph& g, Leafs& l) {
            return ops::cpy(g, l.floats(type, {256, 3, 2, 1}), l.floats(type, {256, 3, 2, 1}));
        });
    }
    for (const Type type : {Type::I32, Type::I64, Type::I16, Type::I8}) {
        add(Op::CPY, arrow(type, type), [=](Graph& g, Leafs& l) {
            return ops::cpy(g, l.ids({33, 4, 1, 1}, 100, type), l.ids({33, 4, 1, 1}, 100, type));
        });
        add(Op::CONT, std::string(type_name(type)) + " transposed", [=](Graph& g, Leafs& l) {
            return ops::cont(g, ops::transpose(g, l.ids({33, 4, 1, 1}, 100, type)));
        });
    }
    add(Op::CONT, "f64 transposed", [](Graph& g, Leafs& l) {
        return ops::cont(g, ops::transpose(g, l.floats(Type::F64, {33, 4, 1, 1})));
    });
    for (const Type type : float_types) {
        const std::string name(type_name(type));
        add(Op::CONT, name + " contiguous", [=](Graph& g, Leafs& l) { return ops::cont(g, l.floats(type, {33, 4, 2, 1})); });
        add(Op::CONT, name + " transposed", [=](Graph& g, Leafs& l) {
            return ops::cont(g, ops::transpose(g, l.floats(type, {33, 70, 2, 1})));
        });
        add(Op::CONT, name + " heads to rows", [=](Graph& g, Leafs& l) {
            return ops::cont(g, ops::permute(g, l.floats(type, {32, 5, 4, 1}), 0, 2, 1, 3), {128, 5, 1, 1});
        });
        add(Op::CONT, name + " all dimensions permuted", [=](Graph& g, Leafs& l) {
            return ops::cont(g, ops::permute(g, l.floats(type, {6, 5, 4, 3}), 3, 2, 0, 1));
        });
        add(Op::CONT, name + " large", [=](Graph& g, Leafs& l) {
            return ops::cont(g, ops::transpose(g, l.floats(type, {300, 400, 1, 1})));
        });
        add(Op::DUP, name, [=](Graph& g, Leafs& l) { return ops::dup(g, l.floats(type, {33, 4, 2, 2})); });
        add(Op::DUP, name + " permuted", [=](Graph& g, Leafs& l) {
            return ops::dup(g, ops::permute(g, l.floats(type, {33, 4, 2, 2}), 1, 0, 3, 2));
        });
    }
}

void add_repeat_and_concat(std::vector<OpCase>& cases) {
    for (const Type type : {Type::F32, Type::F16, Type::I32}) {
        const std::string name(type_name(type));
        const auto leaf = [type](Leafs& l, const Shape& ne) { return type == Type::I32 ? l.ids(ne, 1000) : l.floats(type, ne); };
        for (const auto& [from, to] : {std::pair{Shape{1, 1, 1, 1}, Shape{7, 3, 2, 2}},
                                       {Shape{5, 3, 1, 1}, Shape{10, 3, 4, 2}},
                                       {Shape{64, 1, 2, 1}, Shape{64, 6, 2, 3}},
                                       {Shape{64, 1, 1, 1}, Shape{512, 300, 1, 1}}}) {
            cases.push_back({Op::REPEAT, name + " " + shape_text(from) + " to " + shape_text(to),
                             [=, from = from, to = to](Graph& g, Leafs& l) { return ops::repeat(g, leaf(l, from), to); }});
        }
        cases.push_back({Op::REPEAT, name + " transposed", [=](Graph& g, Leafs& l) {
                             return ops::repeat(g, ops::transpose(g, leaf(l, {3, 5, 1, 1})), {10, 6, 2, 1});
                         }});
        for (int dim = 0; dim < max_dims; ++dim) {
            Shape a{9, 4, 3, 2};
            Shape b = a;
            b[static_cast<size_t>(dim)] = 5;
            cases.push_back({Op::CONCAT, name + " along " + std::to_string(dim),
                             [=](Graph& g, Leafs& l) { return ops::concat(g, leaf(l, a), leaf(l, b), dim); }});
            cases.push_back({Op::CONCAT, name + " of a transposed part along " + std::to_string(dim), [=](Graph& g, Leafs& l) {
                                 Tensor* first = leaf(l, a);
                                 return ops::concat(g, first, ops::transpose(g, leaf(l, {b[1], b[0], b[2], b[3]})), dim);
                             }});
        }
        cases.push_back({Op::CONCAT, name + " large", [=](Graph& g, Leafs& l) {
                             return ops::concat(g, leaf(l, {300, 300, 1, 1}), leaf(l, {300, 100, 1, 1}), 1);
                         }});
    }
}

void add_move_cases(std::vector<OpCase>& cases) {
    add_copies(cases);
    add_repeat_and_concat(cases);
    for (const std::array<int, 4>& after : {std::array<int, 4>{0, 0, 0, 0}, {3, 0, 0, 0}, {0, 5, 0, 1}, {1, 2, 3, 4}}) {
        cases.push_back({Op::PAD, shape_text({after[0], after[1], after[2], after[3]}), [=](Graph& g, Leafs& l) {
                             return ops::pad(g, l.f32({13, 4, 3, 2}), after);
                         }});
        cases.push_back({Op::PAD, "transposed " + shape_text({after[0], after[1], after[2], after[3]}), [=](Graph& g, Leafs& l) {
                             return ops::pad(g, ops::transpose(g, l.f32({4, 13, 3, 2})), after);
                         }});
    }
    cases.push_back({Op::PAD, "large", [](Graph& g, Leafs& l) { return ops::pad(g, l.f32({500, 300, 1, 1}), {12, 20, 0, 0}); }});
    for (const Shape& ne : {Shape{1, 1, 1, 1}, Shape{33, 4, 2, 3}, Shape{1000, 200, 1, 1}}) {
        cases.push_back({Op::FILL, shape_text(ne), [=](Graph& g, Leafs& l) { return ops::fill(g, l.f32(ne), -1.5F); }});
    }
    cases.push_back({Op::ARANGE, "0 to 7", [](Graph& g, Leafs&) { return ops::arange(g, 0, 7, 1); }});
    cases.push_back({Op::ARANGE, "fractions", [](Graph& g, Leafs&) { return ops::arange(g, -3, 50, 0.37F); }});
    cases.push_back({Op::ARANGE, "downwards", [](Graph& g, Leafs&) { return ops::arange(g, 10, 1, -2.5F); }});
    cases.push_back({Op::ARANGE, "large", [](Graph& g, Leafs&) { return ops::arange(g, 0, 200000, 1); }});
}

} // namespace

const OpFamily move_ops{evaluate_move, add_move_cases};

} // namespace schedscope::test
