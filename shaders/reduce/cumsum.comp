#version 450
// Running sums along rows: a row per workgroup, 128 elements at a time.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
layout(local_size_x = 128) in;
layout(std430, binding = 5) buffer Result { float d_data[]; };

shared float sums[128];

void main() {
    uint row = group_index();
    if (row >= n_rows(DST)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint n = ne(DST, 0);
    uvec4 e = position(DST, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w) >> 2;
    float before = 0.0;
    for (uint i0 = 0u; i0 < n; i0 += 128u) {
        float sum = i0 + l < n ? value_at(a, i0 + l) : 0.0;
        sums[l] = sum;
        barrier();
        for (uint s = 1u; s < 128u; s <<= 1) {
            float left = l >= s ? sums[l - s] : 0.0;
            barrier();
            sum += left;
            sums[l] = sum;
            barrier();
        }
        if (i0 + l < n) {
            d_data[d + i0 + l] = before + sum;
        }
        before += sums[127];
        barrier();
    }
}
