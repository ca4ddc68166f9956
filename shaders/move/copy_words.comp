#version 450
// Four-byte elements (I32) as they are.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "word.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 1) readonly buffer Source0 { WORD a_data[]; };
layout(std430, binding = 5) buffer Result { WORD d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 s = place_of(SRC0, i);
    uvec4 e = place_of(DST, i);
    d_data[WORD_AT(at(DST, e.x, e.y, e.z, e.w))] = a_data[WORD_AT(at(SRC0, s.x, s.y, s.z, s.w))];
}
