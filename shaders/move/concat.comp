#version 450
// Source 1 behind source 0 along dimension concat_dim, elements of any type that is not blocks.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "word.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 1) readonly buffer Source0 { WORD a_data[]; };
layout(std430, binding = 2) readonly buffer Source1 { WORD b_data[]; };
layout(std430, binding = 5) buffer Result { WORD d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    uint d = WORD_AT(at(DST, e.x, e.y, e.z, e.w));
    uint dim = uint(concat_dim);
    uint first = ne(SRC0, dim);
    if (e[dim] < first) {
        d_data[d] = a_data[WORD_AT(at(SRC0, e.x, e.y, e.z, e.w))];
    } else {
        e[dim] -= first;
        d_data[d] = b_data[WORD_AT(at(SRC1, e.x, e.y, e.z, e.w))];
    }
}
