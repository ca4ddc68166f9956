#version 450
// params: 0 the first value, 2 the step.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i < n_elements(DST)) {
        d_data[at(DST, i, 0u, 0u, 0u) >> 2] = arange_start + float(i) * arange_step;
    }
}
