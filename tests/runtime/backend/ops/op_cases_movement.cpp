#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_cases.h"

namespace schedscope::test {

namespace {

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

void add_rows(std::vector<OpCase>& cases) {
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
    for (const Type to : {Type::F32, Type::F16}) {
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

void add_images(std::vector<OpCase>& cases) {
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
    for (const ops::Pool op : {ops::Pool::max, ops::Pool::avg}) {
        const std::string name = op == ops::Pool::max ? "largest " : "mean ";
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

void add_movement_cases(std::vector<OpCase>& cases) {
    add_copies(cases);
    add_repeat_and_concat(cases);
    add_rows(cases);
    add_images(cases);
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

} // namespace schedscope::test
