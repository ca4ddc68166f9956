#version 450
// F32 rows (source 0) into rows of the result by number (source 1: I64, of which the low word is read, or I32). extra(0): words
// of a number.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(std430, binding = 1) readonly buffer Source0 { float a_data[]; };
layout(std430, binding = 2) readonly buffer Source1 { int ids[]; };
#if defined(D_BLOCKS)
#include "quantise.glsl"
#define PIECE 32u
#else
#include "result.glsl"
#define PIECE 1u
#endif
layout(local_size_x = 256) in;

void main() {
    uint per_row = ne(SRC0, 0) / PIECE;
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= per_row * n_rows(SRC0)) {
        return;
    }
    uvec4 e = position(SRC0, (i / per_row) * ne(SRC0, 0));
    uint piece = i % per_row;
    int id = ids[at(SRC1, e.y, e.z % ne(SRC1, 1), e.w % ne(SRC1, 2), 0u) >> 2];
    if (id < 0 || uint(id) >= ne(DST, 1)) {
        return;
    }
#if defined(D_BLOCKS)
    float x[32];
    for (uint j = 0u; j < 32u; ++j) {
        x[j] = a_data[at(SRC0, piece * 32u + j, e.y, e.z, e.w) >> 2];
    }
    write_block((at(DST, 0u, uint(id), e.z, e.w) >> 1) + piece * D_WORDS, x);
#else
    STORE(at(DST, piece, uint(id), e.z, e.w), a_data[at(SRC0, piece, e.y, e.z, e.w) >> 2]);
#endif
}
