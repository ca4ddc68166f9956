#version 450
// A row per workgroup: RMS norm, layer norm or L2 norm. The fused kernels, in the same pass: MUL_WEIGHT: times source 1,
// repeated; ADD_BIAS: and source 2, repeated, added.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "reduce_group.glsl"
layout(std430, binding = 2) readonly buffer Source1 { float b_data[]; };
#if defined(ADD_BIAS)
layout(std430, binding = 3) readonly buffer Source2 { float c_data[]; };
#endif
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint row = group_index();
    if (row >= n_rows(DST)) {
        return;
    }
    uint n = ne(DST, 0);
    uvec4 e = position(DST, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w) >> 2;
    uint l = gl_LocalInvocationID.x;
    float eps = norm_eps;
    float mean = 0.0;
#if !defined(RMS) && !defined(L2)
    float sum = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        sum += value_at(a, i);
    }
    mean = group_sum(sum) / float(n);
#endif
    float squares = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        float x = value_at(a, i) - mean;
        squares += x * x;
    }
    squares = group_sum(squares);
#if defined(L2)
    float factor = 1.0 / max(sqrt(squares), eps);
#else
    float factor = 1.0 / sqrt(squares / float(n) + eps);
#endif
    for (uint i = l; i < n; i += GROUP) {
        precise float x = (value_at(a, i) - mean) * factor; // rounded as often as by the nodes one by one
#if defined(MUL_WEIGHT)
        x *= b_data[at_repeated(SRC1, i, e.y, e.z, e.w) >> 2];
#endif
#if defined(ADD_BIAS)
        x += c_data[at_repeated(SRC2, i, e.y, e.z, e.w) >> 2];
#endif
        d_data[d + i] = x;
    }
}
