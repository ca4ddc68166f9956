#version 450
// One value to one value. extra(0): what to do; numbers from 0 are UNARY's functions, from FIRST_OPERATOR operators
// (elementwise.cpp).
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "source0.glsl"
#include "result.glsl"
#include "functions.glsl"
#include "angle.glsl"
layout(local_size_x = 256) in;

#define FIRST_OPERATOR 100

float apply(int what, float x) {
    switch (what - FIRST_OPERATOR) {
    case OP_SCALE: return x * scale_factor + scale_bias;
    case OP_SQR: return x * x;
    case OP_SQRT: return sqrt(x);
    case OP_LOG: return x == 0.0 ? uintBitsToFloat(0xFF800000u) : log(x); // of 0 it is −∞ on every device
    case OP_SIN: return cos_sin(vec2(x, 0.0)).y;
    case OP_COS: return cos_sin(vec2(x, 0.0)).x;
    case OP_CLAMP: return clamp(x, clamp_min, clamp_max);
    case OP_FILL: return fill_value;
    }
    return activation(what, x);
}

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = place_of(DST, i);
    float x = value_at(at(SRC0, e.x, e.y, e.z, e.w), 0u);
    STORE(at(DST, e.x, e.y, e.z, e.w), apply(extra(0), x));
}
