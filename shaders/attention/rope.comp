#version 450
// A pair of a head per invocation. SET_ROWS (the fused kernel): the turned heads of a token, one behind the other, go into the
// row of the result that source 3 numbers (I64, of which the low word is read, or I32). D_BLOCKS: heads of at most 512 elements.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
#if defined(D_BLOCKS)
#include "quantise.glsl"
#else
#include "result.glsl"
#endif
#include "angle.glsl"
layout(local_size_x = 256) in;
// Worked out by the host, behind the operator's parameters: YaRN's ramp and, as two floats, the ratio of one pair's frequency to
// the last one's.
#define ramp_low param_f(PARAMETERS_OF_ROPE)
#define ramp_high param_f(PARAMETERS_OF_ROPE + 1)
#define ratio_upper param_f(PARAMETERS_OF_ROPE + 2)
#define ratio_lower param_f(PARAMETERS_OF_ROPE + 3)
#define has_factors (extra(0) != 0)
layout(std430, binding = 2) readonly buffer Source1 { int positions[]; };
layout(std430, binding = 3) readonly buffer Source2 { float factors[]; };
#if defined(SET_ROWS)
layout(std430, binding = 4) readonly buffer Source3 { int ids[]; };
#endif

// By how much a pair's frequency is multiplied: all of its scaling, or (YaRN) none for pairs that turn often.
vec2 scaling(float pair) {
    vec2 scale = vec2(rope_freq_scale, 0.0);
    float ext = rope_ext_factor;
    if (ext == 0.0) {
        return scale;
    }
    vec2 ramp = quotient2(two_sum(pair, -ramp_low), max(0.001, ramp_high - ramp_low));
    ramp = ramp.x <= 0.0 ? vec2(0.0) : ramp.x >= 1.0 ? vec2(1.0, 0.0) : ramp;
    vec2 kept = product2(sum2(vec2(1.0, 0.0), -ramp), vec2(ext, 0.0));
    return sum2(product2(scale, sum2(vec2(1.0, 0.0), -kept)), kept);
}

// Bytes of the result at which a head begins. False: nowhere.
bool place_of_head(uvec4 e, out uint d) {
#if defined(SET_ROWS)
    int id = ids[at(SRC3, e.z, 0u, 0u, 0u) >> 2];
    if (id < 0 || uint(id) >= ne(DST, 1)) {
        return false;
    }
#if defined(D_BLOCKS)
    d = at(DST, 0u, uint(id), 0u, 0u) + e.y * (ne(SRC0, 0) / 32u) * D_WORDS * 2u;
#else
    d = at(DST, e.y * ne(SRC0, 0), uint(id), 0u, 0u);
#endif
#else
    d = at(DST, 0u, e.y, e.z, e.w);
#endif
    return true;
}

#if defined(D_BLOCKS)
shared float turned[512];
#define PUT(element, v) turned[first + (element)] = v
#else
#define PUT(element, v) STORE(d + (element) * step_d, v)
#endif

// first: where the head lies among those of the workgroup.
void turn(uint pair, uvec4 e, uint d, uint first) {
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint step_d = nb(DST, 0);
    uint n_dims = uint(rope_n_dims);
    uint half_dims = n_dims / 2u;
    if (pair >= half_dims) { // the rest of a head that is only turned in part stays
        uint j = n_dims + 2u * (pair - half_dims);
        for (uint rest = j; rest < min(j + 2u, ne(SRC0, 0)); ++rest) {
            PUT(rest, value_at(a, rest));
        }
        return;
    }
    bool halves = (rope_mode & 2) != 0;
    vec2 frequency = product2(power2(vec2(ratio_upper, ratio_lower), pair), scaling(float(pair)));
    if (has_factors) {
        frequency = quotient2(frequency, factors[at(SRC2, pair, 0u, 0u, 0u) >> 2]);
    }
    float place = float(positions[at(SRC1, e.z, 0u, 0u, 0u) >> 2]);
    vec2 angle = cos_sin(product2(frequency, vec2(place, 0.0))) * rope_attn_factor;
    uint j0 = halves ? pair : 2u * pair;
    uint j1 = halves ? pair + half_dims : 2u * pair + 1u;
    float x0 = value_at(a, j0);
    float x1 = value_at(a, j1);
    PUT(j0, x0 * angle.x - x1 * angle.y);
    PUT(j1, x0 * angle.y + x1 * angle.x);
}

uvec4 indices_of_head(uint head) { return position(SRC0, head * ne(SRC0, 0)); }

#if defined(D_BLOCKS)
// As many whole heads as there is room for, then their blocks.
void main() {
    uint n = ne(SRC0, 0);
    uint heads = 512u / n; // as the host counts (fused.cpp)
    uint before = group_index() * heads;
    heads = min(heads, n_rows(SRC0) - min(n_rows(SRC0), before));
    uint l = gl_LocalInvocationID.x;
    if (l < heads * (n / 2u)) {
        uint head = l / (n / 2u);
        turn(l % (n / 2u), indices_of_head(before + head), 0u, head * n);
    }
    barrier();
    if (l < heads * (n / 32u)) {
        uint head = l / (n / 32u);
        uint d;
        if (place_of_head(indices_of_head(before + head), d)) {
            float x[32];
            for (uint i = 0u; i < 32u; ++i) {
                x[i] = turned[l * 32u + i];
            }
            write_block((d >> 1) + l % (n / 32u) * D_WORDS, x);
        }
    }
}
#else
void main() {
    uint pairs = (ne(SRC0, 0) + 1u) / 2u;
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= pairs * n_rows(SRC0)) {
        return;
    }
    uvec4 e = indices_of_head(i / pairs);
    uint d;
    if (place_of_head(e, d)) {
        turn(i % pairs, e, d, 0u);
    }
}
#endif
