#version 450
// One value from each row: its sum, its mean, or the number of its largest element (the first of equals).
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "reduce_group.glsl"
#if defined(ARGMAX)
layout(std430, binding = 5) buffer Result { int d_data[]; };
#else
layout(std430, binding = 5) buffer Result { float d_data[]; };
#endif

void main() {
    uint row = group_index();
    if (row >= n_rows(SRC0)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint n = ne(SRC0, 0);
    uvec4 e = position(SRC0, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
#if defined(ARGMAX)
    float best = uintBitsToFloat(0xFF800000u);
    uint which = 0xFFFFFFFFu;
    for (uint i = l; i < n; i += GROUP) {
        float x = value_at(a, i);
        if (x > best || which == 0xFFFFFFFFu) {
            best = x;
            which = i;
        }
    }
    float top = group_max(best);
    // The smallest index among those that reach the maximum, as the largest negative.
    float first = group_max(best == top && which != 0xFFFFFFFFu ? -float(which) : -16777216.0);
    if (l == 0u) {
        d_data[at(DST, e.y, 0u, 0u, 0u) >> 2] = first == -16777216.0 ? 0 : int(-first); // no number equals itself: a row of NaN
    }
#else
    float sum = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        sum += value_at(a, i);
    }
    sum = group_sum(sum);
    if (l == 0u) {
#if defined(MEAN)
        sum /= float(n);
#endif
        d_data[at(DST, 0u, e.y, e.z, e.w) >> 2] = sum;
    }
#endif
}
