#version 450
// Attention of one query (token, head, sequence) per workgroup: scores of as many keys as it has invocations at a time, the running maximum and sum kept, values added up.
// Keys and values of the type A_…; extra(0): 1 with a mask (source 3). params: 0 scale, 1 max_bias, 2 cap. Head lengths up to 512.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "reduce_group.glsl"
#include "slope.glsl"
#if defined(A_F32)
layout(std430, binding = 2) readonly buffer Source1 { float k_data[]; };
layout(std430, binding = 3) readonly buffer Source2 { float v_data[]; };
#define KEY(row, i) k_data[((row) >> 2) + (i)]
#define VALUE(row, i) v_data[((row) >> 2) + (i)]
#elif defined(A_F16)
layout(std430, binding = 2) readonly buffer Source1 { float16_t k_data[]; };
layout(std430, binding = 3) readonly buffer Source2 { float16_t v_data[]; };
#define KEY(row, i) float(k_data[((row) >> 1) + (i)])
#define VALUE(row, i) float(v_data[((row) >> 1) + (i)])
#else
layout(std430, binding = 2) readonly buffer Source1 { uint16_t k_data[]; };
layout(std430, binding = 3) readonly buffer Source2 { uint16_t v_data[]; };
float unpacked(uint scale, uint word, uint i) { return unpackHalf2x16(scale).x * float(bitfieldExtract(int(word), int(i & 1u) * 8, 8)); }
float KEY(uint row, uint i) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    return unpacked(uint(k_data[block]), uint(k_data[block + 1u + ((i & 31u) >> 1)]), i);
}
float VALUE(uint row, uint i) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    return unpacked(uint(v_data[block]), uint(v_data[block + 1u + ((i & 31u) >> 1)]), i);
}
#endif
layout(std430, binding = 1) readonly buffer Source0 { float q_data[]; };
layout(std430, binding = 4) readonly buffer Source3 { float16_t mask[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };

#define MAX_HEAD 512
shared float query[MAX_HEAD];
shared float weights[GROUP];

void main() {
    uint group = group_index();
    if (group >= ne(SRC0, 1) * ne(SRC0, 2) * ne(SRC0, 3)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint token = group % ne(SRC0, 1);
    uint head = group / ne(SRC0, 1) % ne(SRC0, 2);
    uint sequence = group / ne(SRC0, 1) / ne(SRC0, 2);
    uint d = ne(SRC0, 0);
    uint dv = ne(SRC2, 0);
    uint n = ne(SRC1, 1);
    uint kv_head = head / (ne(SRC0, 2) / ne(SRC1, 2));
    uint kv_sequence = sequence / (ne(SRC0, 3) / ne(SRC1, 3));
    for (uint i = l; i < d; i += GROUP) {
        query[i] = q_data[at(SRC0, i, token, head, sequence) >> 2];
    }
    barrier();
    bool masked = extra(0) != 0;
    uint m = masked ? at(SRC3, 0u, token, head % ne(SRC3, 2), sequence % ne(SRC3, 3)) >> 1 : 0u;
    float slope = slope_of(param_f(1), head, ne(SRC0, 2));
    float cap = param_f(2);
    const float nothing = uintBitsToFloat(0xFF800000u);

    float top = nothing;
    float sum = 0.0;
    float acc[MAX_HEAD / GROUP]; // elements l, l + GROUP, … of the result
    for (uint part = 0u; part * GROUP < dv; ++part) {
        acc[part] = 0.0;
    }
    for (uint j0 = 0u; j0 < n; j0 += GROUP) {
        uint j = j0 + l;
        float score = nothing;
        float bias = j < n && masked ? float(mask[m + j]) : 0.0;
        if (j < n && !isinf(bias)) {
            uint key = at(SRC1, 0u, j, kv_head, kv_sequence);
            score = 0.0;
            for (uint i = 0u; i < d; ++i) {
                score += query[i] * KEY(key, i);
            }
            score *= param_f(0);
            score = cap != 0.0 ? cap * tanh(clamp(score / cap, -15.0, 15.0)) : score;
            score += slope * bias;
        }
        float next = max(top, group_max(score));
        if (isinf(next)) { // nothing seen yet
            continue;
        }
        float keep = isinf(top) ? 0.0 : exp(top - next);
        float weight = isinf(score) ? 0.0 : exp(score - next);
        top = next;
        sum = sum * keep + group_sum(weight);
        barrier();
        weights[l] = weight;
        barrier();
        uint count = min(GROUP, n - j0);
        for (uint part = 0u; part * GROUP < dv; ++part) {
            uint i = l + part * GROUP;
            if (i < dv) {
                float r = acc[part] * keep;
                for (uint x = 0u; x < count; ++x) {
                    if (weights[x] != 0.0) {
                        r += weights[x] * VALUE(at(SRC2, 0u, j0 + x, kv_head, kv_sequence), i);
                    }
                }
                acc[part] = r;
            }
        }
    }
    uint out_row = at(DST, 0u, head, token, sequence) >> 2;
    for (uint part = 0u; part * GROUP < dv; ++part) {
        uint i = l + part * GROUP;
        if (i < dv) {
            d_data[out_row + i] = sum > 0.0 ? acc[part] / sum : 0.0;
        }
    }
}
