#version 450
// Layer norm over groups of planes (dimension 2): a group per workgroup.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "reduce_group.glsl"
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint groups = uint(group_norm_groups);
    uint group = group_index() % groups;
    uint image = group_index() / groups;
    if (image >= ne(DST, 3)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint planes = (ne(DST, 2) + groups - 1u) / groups;
    uint first = group * planes;
    uint end = min(first + planes, ne(DST, 2));
    uint n = end > first ? (end - first) * ne(DST, 0) * ne(DST, 1) : 0u;
    if (n == 0u) {
        return;
    }
    float sum = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        uvec4 e = position(DST, i);
        sum += value_at(at(SRC0, e.x, e.y, first + e.z, image), 0u);
    }
    float mean = group_sum(sum) / float(n);
    float squares = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        uvec4 e = position(DST, i);
        float x = value_at(at(SRC0, e.x, e.y, first + e.z, image), 0u) - mean;
        squares += x * x;
    }
    float factor = 1.0 / sqrt(group_sum(squares) / float(n) + group_norm_eps);
    for (uint i = l; i < n; i += GROUP) {
        uvec4 e = position(DST, i);
        d_data[at(DST, e.x, e.y, first + e.z, image) >> 2] =
            (value_at(at(SRC0, e.x, e.y, first + e.z, image), 0u) - mean) * factor;
    }
}
