#version 450
// Rows of a table by number. Numbers out of range give zeros.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#if defined(A_I32)
#define ELEMENT int
layout(std430, binding = 1) readonly buffer Source0 { int a_data[]; };
int value_at(uint row, uint i) { return a_data[(row >> 2) + i]; }
#else
#define ELEMENT float
#include "source0.glsl"
#endif
layout(local_size_x = 256) in;
layout(std430, binding = 2) readonly buffer Source1 { int ids[]; };
layout(std430, binding = 5) buffer Result { ELEMENT d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    int id = ids[at(SRC1, e.y, e.z, e.w, 0u) >> 2];
    ELEMENT v = ELEMENT(0);
    if (id >= 0 && uint(id) < ne(SRC0, 1)) {
        v = value_at(at(SRC0, 0u, uint(id), e.z, e.w), e.x);
    }
    d_data[at(DST, e.x, e.y, e.z, e.w) >> 2] = v;
}
