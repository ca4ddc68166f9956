#include "runtime/tensor/ops_build.h"

#include "runtime/numbers.h"

#include <cmath>
#include <limits>

namespace schedscope::ops {

namespace {

void require_same_count(Op op, const Tensor& a, int64_t count, const std::string& other) {
    if (n_elements(a) != count) {
        refuse(op, described(a) + " and " + other + " differ in their number of elements");
    }
}

int64_t count_of(const Shape& ne) noexcept { return ne[0] * ne[1] * ne[2] * ne[3]; }

} // namespace

Tensor* cpy(Graph& g, Tensor* a, Tensor* b) {
    require_same_count(Op::CPY, *a, n_elements(*b), described(*b));
    Tensor* t = make_view(g, Op::CPY, b, 0, "", {a, b});
    set_name(*t, b->name.empty() ? a->name + " (copy)" : b->name + " (copy of " + a->name + ")");
    return t;
}

Tensor* cast(Graph& g, Tensor* a, Type type) {
    Tensor* t = make_result(g, Op::CPY, type, a->ne, {a});
    t->src[1] = t;
    set_name(*t, a->name + " (copy)");
    return t;
}

Tensor* cont(Graph& g, Tensor* a) { return cont(g, a, a->ne); }

Tensor* cont(Graph& g, Tensor* a, const Shape& ne) {
    require_same_count(Op::CONT, *a, count_of(ne), shape_text(ne));
    Tensor* t = make_result(g, Op::CONT, a->type, ne, {a});
    set_name(*t, a->name + " (cont)");
    return t;
}

Tensor* dup(Graph& g, Tensor* a) { return make_result(g, Op::DUP, a->type, {a}); }

Tensor* repeat(Graph& g, Tensor* a, const Shape& ne) {
    Tensor* t = make_result(g, Op::REPEAT, a->type, ne, {a});
    if (!can_repeat(*a, *t)) {
        refuse(Op::REPEAT, described(*a) + " can't be repeated to " + shape_text(ne));
    }
    return t;
}

Tensor* concat(Graph& g, Tensor* a, Tensor* b, int dim) {
    if (dim < 0 || dim >= max_dims) {
        refuse(Op::CONCAT, "there is no dimension " + std::to_string(dim));
    }
    require_type(Op::CONCAT, *b, a->type, "the second part");
    Shape ne = a->ne;
    for (size_t i = 0; i < ne.size(); ++i) {
        if (i == static_cast<size_t>(dim)) {
            ne[i] += b->ne[i];
        } else if (a->ne[i] != b->ne[i]) {
            refuse(Op::CONCAT, described(*a) + " and " + described(*b) + " differ in dimension " + std::to_string(i));
        }
    }
    Tensor* t = make_result(g, Op::CONCAT, a->type, ne, {a, b});
    t->params = packed<Op::CONCAT>({.dim = dim});
    return t;
}

Tensor* get_rows(Graph& g, Tensor* a, Tensor* rows) {
    require_type(Op::GET_ROWS, *rows, Type::I32, "row numbers");
    if (a->ne[2] != rows->ne[1] || a->ne[3] != rows->ne[2] || rows->ne[3] != 1) {
        refuse(Op::GET_ROWS, described(*rows) + " does not fit the matrices of " + described(*a));
    }
    const Type type = a->type == Type::I32 ? Type::I32 : Type::F32;
    return make_result(g, Op::GET_ROWS, type, {a, rows});
}

Tensor* set_rows(Graph& g, Tensor* a, Tensor* b, Tensor* rows) {
    if (rows->type != Type::I64 && rows->type != Type::I32) {
        refuse(Op::SET_ROWS, "row numbers " + described(*rows) + " must be i64 or i32");
    }
    require_type(Op::SET_ROWS, *b, Type::F32, "the new rows");
    if (a->ne[0] != b->ne[0] || a->ne[2] != b->ne[2] || a->ne[3] != b->ne[3]) {
        refuse(Op::SET_ROWS, "rows of " + described(*b) + " do not fit " + described(*a));
    }
    if (b->ne[1] != rows->ne[0] || b->ne[2] % rows->ne[1] != 0 || b->ne[3] % rows->ne[2] != 0 || rows->ne[3] != 1) {
        refuse(Op::SET_ROWS, described(*rows) + " does not number the rows of " + described(*b));
    }
    if (!has_contiguous_rows(*a) || !has_contiguous_rows(*b)) {
        refuse(Op::SET_ROWS, described(*a) + " and " + described(*b) + " must have contiguous rows");
    }
    return make_view(g, Op::SET_ROWS, a, 0, " (view)", {b, rows, a});
}

Tensor* pad(Graph& g, Tensor* a, const std::array<int, 4>& after) {
    Shape ne = a->ne;
    for (size_t i = 0; i < ne.size(); ++i) {
        if (after[i] < 0) {
            refuse(Op::PAD, "a padding of " + std::to_string(after[i]) + " is negative");
        }
        ne[i] += after[i];
    }
    Tensor* t = make_result(g, Op::PAD, a->type, ne, {a});
    t->params = packed<Op::PAD>({.before_0 = 0,
                                 .after_0 = after[0],
                                 .before_1 = 0,
                                 .after_1 = after[1],
                                 .before_2 = 0,
                                 .after_2 = after[2],
                                 .before_3 = 0,
                                 .after_3 = after[3]});
    return t;
}

Tensor* fill(Graph& g, Tensor* a, float value) {
    require_type(Op::FILL, *a, Type::F32, "the target");
    if (!is_contiguous(*a)) {
        refuse(Op::FILL, described(*a) + " must be contiguous");
    }
    Tensor* t = make_result(g, Op::FILL, a->type, {a});
    t->params = packed<Op::FILL>({.value = value});
    return t;
}

Tensor* arange(Graph& g, float start, float stop, float step) {
    const float count = std::ceil((stop - start) / step);
    if (!(count >= 1.0F) || !(count <= to_float(std::numeric_limits<int32_t>::max()))) {
        refuse(Op::ARANGE, "from " + std::to_string(start) + " to " + std::to_string(stop) + " in steps of " +
                               std::to_string(step) + " is not a sequence");
    }
    Tensor* t = make_result(g, Op::ARANGE, Type::F32, {static_cast<int64_t>(count), 1, 1, 1}, {});
    t->params = packed<Op::ARANGE>({.start = start, .stop = stop, .step = step});
    return t;
}

} // namespace schedscope::ops
