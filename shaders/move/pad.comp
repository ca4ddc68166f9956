#version 450
// Source 0 with zeros around it. params: zeros before and behind, for each dimension.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    // Left of the source the difference wraps and is large: one comparison for both sides.
    uvec4 s = e - uvec4(pad_before_0, pad_before_1, pad_before_2, pad_before_3);
    bool inside = s.x < ne(SRC0, 0) && s.y < ne(SRC0, 1) && s.z < ne(SRC0, 2) && s.w < ne(SRC0, 3);
    d_data[at(DST, e.x, e.y, e.z, e.w) >> 2] = inside ? value_at(at(SRC0, s.x, s.y, s.z, s.w), 0u) : 0.0;
}
