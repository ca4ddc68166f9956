#version 450
// F32 to blocks of 32 (D_…) in the same shape, a block per invocation.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "quantise.glsl"
layout(local_size_x = 64) in;

void main() {
    uint block = group_index() * 64u + gl_LocalInvocationID.x;
    uint per_row = ne(DST, 0) / 32u;
    if (block >= per_row * n_rows(DST)) {
        return;
    }
    uvec4 e = position(DST, (block / per_row) * ne(DST, 0));
    uint in_row = block % per_row;
    float x[32];
    for (uint i = 0u; i < 32u; ++i) {
        x[i] = value_at(at(SRC0, in_row * 32u + i, e.y, e.z, e.w), 0u);
    }
    write_block((at(DST, 0u, e.y, e.z, e.w) >> 1) + in_row * D_WORDS, x);
}
