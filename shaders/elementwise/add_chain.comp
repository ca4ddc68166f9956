#version 450
// The sum of several tensors, term by term from the left, each repeated to the result's shape: ADDs in a row, fused. TERMS: how
// many (2 to 9). The first four are sources 0 to 3; the others' layouts follow in the next record. extra(0): 1 when no tensor has
// gaps and all are of the result's shape.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "result.glsl"
layout(local_size_x = 256) in;
layout(constant_id = 1) const uint TERMS = 2;
layout(std430, binding = 1) readonly buffer Source0 { float a[]; };
layout(std430, binding = 2) readonly buffer Source1 { float b[]; };
layout(std430, binding = 3) readonly buffer Source2 { float c[]; };
layout(std430, binding = 4) readonly buffer Source3 { float d[]; };
#if defined(MANY)
layout(std430, binding = 6) readonly buffer Source4 { float f[]; };
layout(std430, binding = 7) readonly buffer Source5 { float g[]; };
layout(std430, binding = 8) readonly buffer Source6 { float h[]; };
layout(std430, binding = 9) readonly buffer Source7 { float k[]; };
layout(std430, binding = 10) readonly buffer Source8 { float l[]; };
#endif

uvec4 e;
// The word of a term's element.
uint word(uint record, uint t) {
    Layout y = nodes[node_index + record].t[t];
    if (extra(0) != 0) {
        return (y.offset >> 2) + e.x;
    }
    return (y.offset + e.x % y.ne[0] * y.nb[0] + e.y % y.ne[1] * y.nb[1] + e.z % y.ne[2] * y.nb[2] +
            e.w % y.ne[3] * y.nb[3]) >> 2;
}

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    e = extra(0) != 0 ? uvec4(i, 0u, 0u, 0u) : position(DST, i);
    float sum = a[word(0u, 0u)] + b[word(0u, 1u)];
    if (TERMS > 2u) {
        sum += c[word(0u, 2u)];
    }
    if (TERMS > 3u) {
        sum += d[word(0u, 3u)];
    }
#if defined(MANY)
    if (TERMS > 4u) {
        sum += f[word(1u, 0u)];
    }
    if (TERMS > 5u) {
        sum += g[word(1u, 1u)];
    }
    if (TERMS > 6u) {
        sum += h[word(1u, 2u)];
    }
    if (TERMS > 7u) {
        sum += k[word(1u, 3u)];
    }
    if (TERMS > 8u) {
        sum += l[word(1u, 4u)];
    }
#endif
    STORE(at(DST, e.x, e.y, e.z, e.w), sum);
}
