#pragma once

#include "runtime/tensor/graph.h"

namespace schedscope {

/// The operators a model is built from. Each checks shapes and types by the operator's one rule (one file per family:
/// ops_*.cpp) and throws Error(usage) "OP: why" when they don't fit. Results belong to the graph; ggml's parameters and names are
/// used,
/// "(view)", "(reshaped)", "(permuted)", "(transposed)", "(cont)", "(copy of …)" included, because people know them.
/// ne is written [ne0, ne1, ne2, ne3], ne0 the contiguous dimension.
namespace ops {

// Element-wise; b is repeated to a's shape. Result: a's shape, F32 (or a's type).
Tensor* add(Graph&, Tensor* a, Tensor* b);
Tensor* sub(Graph&, Tensor* a, Tensor* b);
Tensor* mul(Graph&, Tensor* a, Tensor* b);
Tensor* div(Graph&, Tensor* a, Tensor* b);
/// a [n, k, t] + b [n, experts], row ids [k, t] I32.
Tensor* add_id(Graph&, Tensor* a, Tensor* b, Tensor* ids);
/// a × scale + bias.
Tensor* scale(Graph&, Tensor* a, float scale, float bias = 0.0F);
Tensor* sqr(Graph&, Tensor* a);
Tensor* sqrt(Graph&, Tensor* a);
Tensor* log(Graph&, Tensor* a);
Tensor* sin(Graph&, Tensor* a);
Tensor* cos(Graph&, Tensor* a);
Tensor* clamp(Graph&, Tensor* a, float min, float max); ///< a view of a (in place, as in ggml)
Tensor* unary(Graph&, Tensor* a, UnaryOp op);
/// a, b [n, …] → op(a) × b. With b null a holds both halves: [2n, …] → [n, …].
Tensor* glu(Graph&, Tensor* a, Tensor* b, GluOp op, bool swapped = false);

// Norms over ne0.
Tensor* norm(Graph&, Tensor* a, float eps);
Tensor* rms_norm(Graph&, Tensor* a, float eps);
Tensor* l2_norm(Graph&, Tensor* a, float eps);
/// Groups along ne2.
Tensor* group_norm(Graph&, Tensor* a, int groups, float eps);

// Products.
/// a [k, m, A2, A3] (any type), b [k, n, B2, B3] F32 (F16 too) → [m, n, B2, B3] F32; a is repeated along 2 and 3.
Tensor* mul_mat(Graph&, Tensor* a, Tensor* b);
/// as [k, m, experts], b [k, e or 1, t], ids [e, t] I32 → [m, e, t] F32.
Tensor* mul_mat_id(Graph&, Tensor* as, Tensor* b, Tensor* ids);

// Movement.
Tensor* cpy(Graph&, Tensor* a, Tensor* b);  ///< writes a into b; result is a view of b with sources a, b
Tensor* cast(Graph&, Tensor* a, Type type); ///< CPY with itself as source 1
Tensor* cont(Graph&, Tensor* a);
Tensor* cont(Graph&, Tensor* a, const Shape& ne);
Tensor* dup(Graph&, Tensor* a);
Tensor* repeat(Graph&, Tensor* a, const Shape& ne);
Tensor* concat(Graph&, Tensor* a, Tensor* b, int dim);
Tensor* get_rows(Graph&, Tensor* a, Tensor* rows); ///< a [n, r, …] any type, rows I32 [k, …] → [n, k, …] F32 (I32 stays)
/// b F32 [n, k, …] into a's rows (I64 or I32 [k, …]); a view of a; sources b, rows, a
Tensor* set_rows(Graph&, Tensor* a, Tensor* b, Tensor* rows);
Tensor* pad(Graph&, Tensor* a, const std::array<int, 4>& after); ///< zeros behind
Tensor* fill(Graph&, Tensor* a, float value);
Tensor* arange(Graph&, float start, float stop, float step);

// Views: op VIEW, RESHAPE, PERMUTE, TRANSPOSE; no data moves.
/// nb[0] is the type's; nb_1_to_3[1..3] are used.
Tensor* view(Graph&, Tensor* a, const Shape& ne, const Strides& nb_1_to_3, size_t offset);
Tensor* view_1d(Graph&, Tensor* a, int64_t ne0, size_t offset);
Tensor* view_2d(Graph&, Tensor* a, int64_t ne0, int64_t ne1, size_t nb1, size_t offset);
Tensor* view_3d(Graph&, Tensor* a, int64_t ne0, int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset);
Tensor* view_4d(Graph&, Tensor* a, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2, size_t nb3,
                size_t offset);
Tensor* reshape(Graph&, Tensor* a, const Shape& ne);                            ///< a must be contiguous
Tensor* permute(Graph&, Tensor* a, int axis0, int axis1, int axis2, int axis3); ///< dimension i of a becomes axis_i
Tensor* transpose(Graph&, Tensor* a);

// Attention.
/// softmax(a × scale + mask × slope(max_bias)) over ne0. mask F32 or F16 [ne0, ≥ ne1, …], may be null; sinks may be null (source
/// 2).
Tensor* soft_max(Graph&, Tensor* a, Tensor* mask, float scale, float max_bias, Tensor* sinks = nullptr);
/// a [head, heads, t, …], positions I32 [t], factors F32 [n_dims/2] or null. mode: 0 adjacent pairs ("norm"), 2 halves ("neox").
Tensor* rope(Graph&, Tensor* a, Tensor* positions, Tensor* factors, const RopeParams&);
/// q [d, t, heads, s] F32; k [d, kv, heads_kv, s], v [dv, kv, heads_kv, s] F16/F32/Q8_0; mask F16 [kv, ≥ t, …] → [dv, heads, t,
/// s] F32.
Tensor* flash_attn(Graph&, Tensor* q, Tensor* k, Tensor* v, Tensor* mask, float scale, float max_bias, float logit_cap);

// Choosing and summing.
Tensor* argmax(Graph&, Tensor* a);                   ///< [n, r] → I32 [r]
Tensor* argsort(Graph&, Tensor* a, bool descending); ///< I32 of a's shape
Tensor* top_k(Graph&, Tensor* a, int k);             ///< I32 [k, …], the largest first, equal ones: lower number first
Tensor* sum_rows(Graph&, Tensor* a);                 ///< [1, …]
Tensor* sum(Graph&, Tensor* a);                      ///< [1]
Tensor* mean(Graph&, Tensor* a);                     ///< [1, …]
Tensor* cumsum(Graph&, Tensor* a);                   ///< along ne0

// Images.
/// kernel [kw, kh, c, oc], image [w, h, c, n] → [kw·kh·c, ow, oh, n]. s: stride, p: padding, d: dilation.
Tensor* im2col(Graph&, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0, int d1, bool is_2d, Type type);
Tensor* conv_2d(Graph&, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0,
                int d1); ///< im2col and a product, as ggml builds it
Tensor* conv_2d_dw(Graph&, Tensor* kernel, Tensor* image, int s0, int s1, int p0, int p1, int d0,
                   int d1); ///< depthwise, through im2col
/// k: window, s: stride, p: padding; the operator carries whole paddings.
Tensor* pool_2d(Graph&, Tensor* a, Pool kind, int k0, int k1, int s0, int s1, float p0, float p1);

} // namespace ops
} // namespace schedscope
