#version 450
// A row per workgroup. extra(0): bit 0 a mask (source 1), bit 1 sinks (source 2).
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "reduce_group.glsl"
#include "slope.glsl"
#if defined(MASK_F16)
layout(std430, binding = 2) readonly buffer Source1 { float16_t mask[]; };
#define MASK(offset, i) float(mask[((offset) >> 1) + (i)])
#else
layout(std430, binding = 2) readonly buffer Source1 { float mask[]; };
#define MASK(offset, i) mask[((offset) >> 2) + (i)]
#endif
layout(std430, binding = 3) readonly buffer Source2 { float sinks[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint row = group_index();
    if (row >= n_rows(DST)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint n = ne(DST, 0);
    uvec4 e = position(DST, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w) >> 2;
    bool masked = (extra(0) & 1) != 0;
    uint m = masked ? at(SRC1, 0u, e.y, e.z % ne(SRC1, 2), e.w % ne(SRC1, 3)) : 0u;
    float slope = slope_of(soft_max_max_bias, e.z, ne(DST, 2));
    float scale = soft_max_scale;
    const float nothing = uintBitsToFloat(0xFF800000u);

    float top = nothing;
    for (uint i = l; i < n; i += GROUP) {
        top = max(top, value_at(a, i) * scale + (masked ? slope * MASK(m, i) : 0.0));
    }
    top = group_max(top);
    bool sinking = (extra(0) & 2) != 0;
    float sink = sinking ? sinks[at(SRC2, e.z, 0u, 0u, 0u) >> 2] : 0.0;
    top = sinking ? max(top, sink) : top;
    if (top == nothing) { // everything is masked, but for what is not a number, which a maximum passes over
        float odd = 0.0;
        for (uint i = l; i < n; i += GROUP) {
            odd = isnan(value_at(a, i) * scale + (masked ? slope * MASK(m, i) : 0.0)) ? 1.0 : odd;
        }
        odd = group_max(odd);
        for (uint i = l; i < n; i += GROUP) {
            d_data[d + i] = odd > 0.0 ? uintBitsToFloat(0x7FC00000u) : 0.0;
        }
        return;
    }
    float sum = 0.0;
    for (uint i = l; i < n; i += GROUP) {
        float v = exp(value_at(a, i) * scale + (masked ? slope * MASK(m, i) : 0.0) - top);
        d_data[d + i] = v;
        sum += v;
    }
    sum = group_sum(sum);
    sum += sinking ? exp(sink - top) : 0.0;
    for (uint i = l; i < n; i += GROUP) {
        d_data[d + i] /= sum;
    }
}
