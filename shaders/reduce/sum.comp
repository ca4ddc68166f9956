#version 450
// Everything into one value, by one workgroup: each invocation keeps what its additions lose.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "reduce_group.glsl"
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint l = gl_LocalInvocationID.x;
    uint n = n_elements(SRC0);
    precise float sum = 0.0;
    precise float lost = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        uvec4 e = position(SRC0, i);
        precise float x = value_at(at(SRC0, e.x, e.y, e.z, e.w), 0u) - lost;
        precise float next = sum + x;
        lost = (next - sum) - x;
        sum = next;
    }
    float total = group_sum(sum);
    if (l == 0u) {
        d_data[nodes[node_index].t[DST].offset >> 2] = total;
    }
}
