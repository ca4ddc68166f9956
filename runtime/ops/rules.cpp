#include "runtime/ops/rules.h"

namespace schedscope {

namespace {

int64_t count(const Shape& ne) noexcept { return ne[0] * ne[1] * ne[2] * ne[3]; }

} // namespace

namespace shape {

Shape of_source_0(const SourceShapes& s) noexcept { return *s[0]; }

Shape of_gated(const SourceShapes& s) noexcept {
    const Shape& a = *s[0];
    return {s[1] != nullptr ? a[0] : a[0] / 2, a[1], a[2], a[3]};
}

Shape one_per_row(const SourceShapes& s) noexcept { return {1, (*s[0])[1], (*s[0])[2], (*s[0])[3]}; }
Shape one_per_column(const SourceShapes& s) noexcept { return {(*s[0])[1], 1, 1, 1}; }
Shape one(const SourceShapes&) noexcept { return {1, 1, 1, 1}; }
Shape product(const SourceShapes& s) noexcept { return {(*s[0])[1], (*s[1])[1], (*s[1])[2], (*s[1])[3]}; }
Shape expert_product(const SourceShapes& s) noexcept { return {(*s[0])[1], (*s[2])[0], (*s[1])[2], 1}; }
Shape looked_up(const SourceShapes& s) noexcept { return {(*s[0])[0], (*s[1])[0], (*s[1])[1], (*s[1])[2]}; }
Shape attention(const SourceShapes& s) noexcept { return {(*s[2])[0], (*s[0])[2], (*s[0])[1], (*s[0])[3]}; }

} // namespace shape

namespace flops {

int64_t none(const Shape&, const SourceShapes&) noexcept { return 0; }
int64_t each_of_source_0(const Shape&, const SourceShapes& s) noexcept { return count(*s[0]); }
int64_t product(const Shape& ne, const SourceShapes& s) noexcept { return 2 * count(ne) * (*s[0])[0]; }

int64_t attention(const Shape&, const SourceShapes& s) noexcept {
    const Shape& q = *s[0];
    return 2 * (q[1] * q[2] * q[3]) * (*s[1])[1] * (q[0] + (*s[2])[0]);
}

} // namespace flops

} // namespace schedscope
