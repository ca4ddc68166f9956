#version 450
// Element by element; source 1 is repeated to the result's shape.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 1) readonly buffer Source0 { float a_data[]; };
layout(std430, binding = 2) readonly buffer Source1 { float b_data[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    float a = a_data[at(SRC0, e.x, e.y, e.z, e.w) >> 2];
    float b = b_data[at_repeated(SRC1, e.x, e.y, e.z, e.w) >> 2];
#if defined(OP_ADD)
    float r = a + b;
#elif defined(OP_SUB)
    float r = a - b;
#elif defined(OP_MUL)
    float r = a * b;
#else
    float r = a / b;
#endif
    d_data[at(DST, e.x, e.y, e.z, e.w) >> 2] = r;
}
