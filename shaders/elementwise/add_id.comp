#version 450
// Source 0 plus the row of source 1 that source 2 names for each row.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 1) readonly buffer Source0 { float a_data[]; };
layout(std430, binding = 2) readonly buffer Source1 { float b_data[]; };
layout(std430, binding = 3) readonly buffer Source2 { int ids[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    int id = ids[at(SRC2, e.y, e.z, 0u, 0u) >> 2];
    bool valid = id >= 0 && uint(id) < ne(SRC1, 1);
    float b = valid ? b_data[at(SRC1, e.x, uint(id), 0u, 0u) >> 2] : 0.0;
    d_data[at(DST, e.x, e.y, e.z, e.w) >> 2] = a_data[at(SRC0, e.x, e.y, e.z, e.w) >> 2] + b;
}
