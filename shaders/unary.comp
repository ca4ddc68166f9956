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
    case 0: return abs(x);
    case 1: return sign(x);
    case 2: return -x;
    case 3: return x > 0.0 ? 1.0 : 0.0;
    case 4: return safe_tanh(x);
    case 5: return x > 0.0 ? x : expm1_of(x);
    case 6: return max(x, 0.0);
    case 7: return sigmoid(x);
    case 8: return gelu(x);
    case 9: return gelu_quick(x);
    case 10: return x * sigmoid(x);
    case 11: return x * clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case 12: return clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case 13: return exp(x);
    case 14: return expm1_of(x);
    case 15: return x > 20.0 ? x : log(1.0 + exp(x));
    case 16: return gelu_erf(x);
    case 18: return floor(x);
    case 19: return ceil(x);
    case 20: return sign(x) * floor(abs(x) + 0.5);
    case 21: return trunc(x);
    case 100: return x * param_f(0) + param_f(1); // SCALE
    case 101: return x * x;                       // SQR
    case 102: return sqrt(x);                     // SQRT
    case 103: return log(x);                      // LOG
    case 104: return cos_sin(vec2(x, 0.0)).y;                    // SIN
    case 105: return cos_sin(vec2(x, 0.0)).x;                      // COS
    case 106: return clamp(x, param_f(0), param_f(1)); // CLAMP
    case 107: return param_f(0);                  // FILL
    }
    return 0.0;
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
