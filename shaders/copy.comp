#version 450
// Element by element in order, whatever the two shapes and strides.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
layout(local_size_x = 256) in;
#if defined(D_F32)
layout(std430, binding = 5) buffer Result { float d_data[]; };
#define STORE(offset, v) d_data[(offset) >> 2] = (v)
#else
layout(std430, binding = 5) buffer Result { float16_t d_data[]; };
#define STORE(offset, v) d_data[(offset) >> 1] = float16_t(v)
#endif

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 s = position(SRC0, i);
    uvec4 e = position(DST, i);
    STORE(at(DST, e.x, e.y, e.z, e.w), value_at(at(SRC0, s.x, s.y, s.z, s.w), 0u));
}
