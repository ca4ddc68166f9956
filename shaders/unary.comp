#version 450
// One value to one value. extra(0): what to do; numbers from 0 are UnaryOp's, from 100 the operators of their own.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "source0.glsl"
#include "result.glsl"
#include "functions.glsl"
#include "angle.glsl"
layout(local_size_x = 256) in;

float apply(int what, float x) {
    switch (what) {
    case 100: return x * param_f(0) + param_f(1); // SCALE
    case 101: return x * x;                       // SQR
    case 102: return sqrt(x);                     // SQRT
    case 103: return x == 0.0 ? uintBitsToFloat(0xFF800000u) : log(x); // LOG: of 0 it is −∞ on every device
    case 104: return cos_sin(vec2(x, 0.0)).y;                    // SIN
    case 105: return cos_sin(vec2(x, 0.0)).x;                      // COS
    case 106: return clamp(x, param_f(0), param_f(1)); // CLAMP
    case 107: return param_f(0);                  // FILL
    }
    return unary_function(what, x);
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
