#include "runtime/tensor/ops_build.h"

#include <utility>

namespace schedscope::ops {

Tensor* view(Graph& g, Tensor* a, const Shape& ne, const Strides& nb_1_to_3, size_t offset) {
    const TypeTraits& type = traits(a->type);
    for (const int64_t n : ne) {
        if (n <= 0) {
            refuse(Op::VIEW, shape_text(ne) + " is not a shape");
        }
    }
    if (ne[0] % type.block != 0) {
        refuse(Op::VIEW, "rows of " + std::to_string(ne[0]) + " do not divide into blocks of " + std::string(type.name));
    }
    const Strides nb{type.bytes, nb_1_to_3[1], nb_1_to_3[2], nb_1_to_3[3]};
    const Tensor& root = a->view_source != nullptr ? *a->view_source : *a;
    if (a->view_offset + offset + n_bytes(a->type, ne, nb) > n_bytes(root)) {
        refuse(Op::VIEW, shape_text(ne) + " at byte " + std::to_string(offset) + " reaches beyond " + described(*a));
    }
    Tensor* t = make_view(g, Op::VIEW, a, offset, " (view)", {a});
    t->ne = ne;
    t->nb = nb;
    t->params = packed<Op::VIEW>({.offset = offset});
    return t;
}

Tensor* view_1d(Graph& g, Tensor* a, int64_t ne0, size_t offset) {
    return view_2d(g, a, ne0, 1, row_bytes(a->type, ne0), offset);
}

Tensor* view_2d(Graph& g, Tensor* a, int64_t ne0, int64_t ne1, size_t nb1, size_t offset) {
    return view_3d(g, a, ne0, ne1, 1, nb1, nb1 * ne1, offset);
}

Tensor* view_3d(Graph& g, Tensor* a, int64_t ne0, int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset) {
    return view_4d(g, a, ne0, ne1, ne2, 1, nb1, nb2, nb2 * ne2, offset);
}

Tensor* view_4d(Graph& g, Tensor* a, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2, size_t nb3,
                size_t offset) {
    return view(g, a, {ne0, ne1, ne2, ne3}, {0, nb1, nb2, nb3}, offset);
}

Tensor* reshape(Graph& g, Tensor* a, const Shape& ne) {
    if (!is_contiguous(*a)) {
        refuse(Op::RESHAPE, described(*a) + " must be contiguous");
    }
    bool possible = ne[0] > 0 && ne[0] % traits(a->type).block == 0;
    int64_t left = n_elements(*a);
    for (const int64_t n : ne) {
        possible = possible && n > 0 && left % n == 0;
        left = possible ? left / n : 0;
    }
    if (!possible || left != 1) {
        refuse(Op::RESHAPE, described(*a) + " can't become " + shape_text(ne));
    }
    Tensor* t = make_view(g, Op::RESHAPE, a, 0, " (reshaped)", {a});
    t->ne = ne;
    t->nb = contiguous_strides(a->type, ne);
    return t;
}

Tensor* permute(Graph& g, Tensor* a, int axis0, int axis1, int axis2, int axis3) {
    const std::array<int, max_dims> axes{axis0, axis1, axis2, axis3};
    unsigned seen = 0;
    for (const int axis : axes) {
        if (axis < 0 || axis >= max_dims) {
            refuse(Op::PERMUTE, "there is no dimension " + std::to_string(axis));
        }
        seen |= 1U << axis;
    }
    if (seen != 0xFU) {
        refuse(Op::PERMUTE, "two dimensions of " + described(*a) + " go to the same place");
    }
    Tensor* t = make_view(g, Op::PERMUTE, a, 0, " (permuted)", {a});
    for (size_t i = 0; i < axes.size(); ++i) {
        const size_t to = axes[i];
        t->ne[to] = a->ne[i];
        t->nb[to] = a->nb[i];
    }
    t->params = packed<Op::PERMUTE>({.axis_0 = axis0, .axis_1 = axis1, .axis_2 = axis2, .axis_3 = axis3});
    return t;
}

Tensor* transpose(Graph& g, Tensor* a) {
    Tensor* t = make_view(g, Op::TRANSPOSE, a, 0, " (transposed)", {a});
    std::swap(t->ne[0], t->ne[1]);
    std::swap(t->nb[0], t->nb[1]);
    return t;
}

} // namespace schedscope::ops
