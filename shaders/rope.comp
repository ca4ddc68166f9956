#version 450
// A pair of a head per invocation. Parameters as ggml numbers them: 1 dimensions, 2 mode, 5 base, 6 scale, 7 ext, 8 magnitude; extra(0): 1 when there are factors;
// param 11 and 12: YaRN's ramp (floats), worked out by the host.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
#include "result.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 2) readonly buffer Source1 { int positions[]; };
layout(std430, binding = 3) readonly buffer Source2 { float factors[]; };

// x modulo 2π with the period in three parts: cos and sin of large arguments are inexact on many devices.
float wrapped(float x) {
    float turns = round(x * 0.15915494309189535);
    return ((x - turns * 6.28125) - turns * 1.9350051879882812e-3) - turns * 3.0199159819567e-7;
}

void main() {
    uint pairs = (ne(DST, 0) + 1u) / 2u;
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= pairs * n_rows(DST)) {
        return;
    }
    uint pair = i % pairs;
    uvec4 e = position(DST, (i / pairs) * ne(DST, 0));
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w);
    uint step_d = nb(DST, 0);
    uint n_dims = uint(param(1));
    uint half_dims = n_dims / 2u;
    if (pair >= half_dims) { // the rest of a head that is only turned in part stays
        uint j = n_dims + 2u * (pair - half_dims);
        for (uint rest = j; rest < min(j + 2u, ne(DST, 0)); ++rest) {
            STORE(d + rest * step_d, value_at(a, rest));
        }
        return;
    }
    bool halves = (param(2) & 2) != 0;
    float factor = extra(0) != 0 ? factors[at(SRC2, pair, 0u, 0u, 0u) >> 2] : 1.0;
    float position_of = float(positions[at(SRC1, e.z, 0u, 0u, 0u) >> 2]);
    float original = position_of * pow(param_f(5), -2.0 * float(pair) / float(n_dims)) / factor;
    float angle = original * param_f(6);
    if (param_f(7) != 0.0) {
        float ramp = 1.0 - clamp((float(pair) - param_f(11)) / max(0.001, param_f(12) - param_f(11)), 0.0, 1.0);
        float mix_by = ramp * param_f(7);
        angle = angle * (1.0 - mix_by) + original * mix_by;
    }
    angle = wrapped(angle);
    float c = cos(angle) * param_f(8);
    float s = sin(angle) * param_f(8);
    uint j0 = halves ? pair : 2u * pair;
    uint j1 = halves ? pair + half_dims : 2u * pair + 1u;
    float x0 = value_at(a, j0);
    float x1 = value_at(a, j1);
    STORE(d + j0 * step_d, x0 * c - x1 * s);
    STORE(d + j1 * step_d, x0 * s + x1 * c);
}
