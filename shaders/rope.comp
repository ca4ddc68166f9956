#version 450
// A pair of a head per invocation. Parameters as ggml numbers them: 1 dimensions, 2 mode, 6 scale, 7 ext, 8 magnitude; extra(0): 1 when there are factors.
// Worked out by the host (floats): params 11 and 12 YaRN's ramp; 13 and 14, as two floats, the ratio of one pair's frequency to the last one's.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
#include "result.glsl"
#include "angle.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 2) readonly buffer Source1 { int positions[]; };
layout(std430, binding = 3) readonly buffer Source2 { float factors[]; };

// By how much a pair's frequency is multiplied: all of its scaling, or (YaRN) none for pairs that turn often.
vec2 scaling(float pair) {
    vec2 scale = vec2(param_f(6), 0.0);
    float ext = param_f(7);
    if (ext == 0.0) {
        return scale;
    }
    vec2 ramp = quotient2(two_sum(pair, -param_f(11)), max(0.001, param_f(12) - param_f(11)));
    ramp = ramp.x <= 0.0 ? vec2(0.0) : ramp.x >= 1.0 ? vec2(1.0, 0.0) : ramp;
    vec2 kept = product2(sum2(vec2(1.0, 0.0), -ramp), vec2(ext, 0.0));
    return sum2(product2(scale, sum2(vec2(1.0, 0.0), -kept)), kept);
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
    vec2 frequency = product2(power2(vec2(param_f(13), param_f(14)), pair), scaling(float(pair)));
    if (extra(0) != 0) {
        frequency = quotient2(frequency, factors[at(SRC2, pair, 0u, 0u, 0u) >> 2]);
    }
    float place = float(positions[at(SRC1, e.z, 0u, 0u, 0u) >> 2]);
    vec2 turn = cos_sin(product2(frequency, vec2(place, 0.0))) * param_f(8);
    uint j0 = halves ? pair : 2u * pair;
    uint j1 = halves ? pair + half_dims : 2u * pair + 1u;
    float x0 = value_at(a, j0);
    float x1 = value_at(a, j1);
    STORE(d + j0 * step_d, x0 * turn.x - x1 * turn.y);
    STORE(d + j1 * step_d, x0 * turn.y + x1 * turn.x);
}
