#pragma once

#include "runtime/ops/layout.h"

#include <array>
#include <cstdint>

/// What the catalogue's lines say of an operator by rules: pure functions of shapes.
namespace schedscope {

/// Shapes of sources 0 to 2; null: there is none.
using SourceShapes = std::array<const Shape*, 3>;

/// A result's shape.
namespace shape {
Shape of_source_0(const SourceShapes& s) noexcept;
Shape of_gated(const SourceShapes& s) noexcept; ///< source 0's, or half its row when it holds both halves
Shape one_per_row(const SourceShapes& s) noexcept;
Shape one_per_column(const SourceShapes& s) noexcept; ///< a row with an element for each row of a matrix
Shape one(const SourceShapes& s) noexcept;
Shape product(const SourceShapes& s) noexcept;        ///< [k, m] × [k, n, …] → [m, n, …]
Shape expert_product(const SourceShapes& s) noexcept; ///< [k, m, experts] × [k, e or 1, t], ids [e, t] → [m, e, t]
Shape looked_up(const SourceShapes& s) noexcept;      ///< [n, r], rows [k, …] → [n, k, …]
Shape attention(const SourceShapes& s) noexcept;      ///< q [d, t, heads, s], v [dv, …] → [dv, heads, t, s]
} // namespace shape

/// Floating-point operations, multiply and add counted apart. ne: the result's shape.
namespace flops {
int64_t none(const Shape& ne, const SourceShapes& s) noexcept;
int64_t each_of_source_0(const Shape& ne, const SourceShapes& s) noexcept; ///< one for each element of source 0
int64_t product(const Shape& ne, const SourceShapes& s) noexcept;
int64_t attention(const Shape& ne, const SourceShapes& s) noexcept; ///< scores and weighted values for each query, head and key
/// N for each element of the result.
template <int N> int64_t each(const Shape& ne, const SourceShapes&) noexcept { return N * (ne[0] * ne[1] * ne[2] * ne[3]); }
} // namespace flops

/// What the offload of an operator is counted by (ggml's rules). ne: the result's shape.
namespace batch {
constexpr int64_t never(const Shape&) noexcept { return 0; } ///< it is not offloaded
constexpr int64_t rows(const Shape& ne) noexcept { return ne[1] * ne[2] * ne[3]; }
constexpr int64_t dimension_1(const Shape& ne) noexcept { return ne[1]; }
constexpr int64_t dimension_2(const Shape& ne) noexcept { return ne[2]; }
} // namespace batch

} // namespace schedscope
