#version 450
// Source 0 again and again, elements of any type that is not blocks.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "word.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 1) readonly buffer Source0 { WORD a_data[]; };
layout(std430, binding = 5) buffer Result { WORD d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    d_data[WORD_AT(at(DST, e.x, e.y, e.z, e.w))] = a_data[WORD_AT(at_repeated(SRC0, e.x, e.y, e.z, e.w))];
}
