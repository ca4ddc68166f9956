#version 450
// Element by element in order, whatever the two shapes and strides.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "source0.glsl"
#include "result.glsl"
layout(local_size_x = 256) in;

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 s = place_of(SRC0, i);
    uvec4 e = place_of(DST, i);
#if defined(A_BLOCKS) // blocks: rows without gaps
    float v = value_at(at(SRC0, 0u, s.y, s.z, s.w), s.x);
#else
    float v = value_at(at(SRC0, s.x, s.y, s.z, s.w), 0u);
#endif
    STORE(at(DST, e.x, e.y, e.z, e.w), v);
}
