#version 450
// gate(x) × y: the halves of source 0, or sources 0 and 1.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "result.glsl"
#include "functions.glsl"
layout(local_size_x = 256) in;
#define two_sources (extra(0) != 0)

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = place_of(DST, i);
    float x, y;
    if (two_sources) {
        x = value_at(at(SRC0, e.x, e.y, e.z, e.w), 0u);
        y = B(at(SRC1, e.x, e.y, e.z, e.w));
    } else {
        uint half_row = ne(DST, 0);
        uint first = glu_swapped != 0 ? half_row : 0u;
        x = value_at(at(SRC0, e.x + first, e.y, e.z, e.w), 0u);
        y = value_at(at(SRC0, e.x + (half_row - first), e.y, e.z, e.w), 0u);
    }
    float gate = 0.0;
    switch (glu_function) {
    case GATE_REGLU: gate = max(x, 0.0); break;
    case GATE_GEGLU: gate = gelu(x); break;
    case GATE_SWIGLU: gate = x * sigmoid(x); break;
    case GATE_GEGLU_ERF: gate = gelu_erf(x); break;
    case GATE_GEGLU_QUICK: gate = gelu_quick(x); break;
    }
    STORE(at(DST, e.x, e.y, e.z, e.w), gate * y);
}
