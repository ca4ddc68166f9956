#version 450
// Products row by row of the weights: a workgroup multiplies one row with up to 8 columns in one pass over it.
// EXPERTS: source 2 names the weights' matrix for each expert slot and token.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "reduce_group.glsl"
layout(std430, binding = 3) readonly buffer Source2 { int ids[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };
#define MAX_COLUMNS 8u

void main() {
    uint l = gl_LocalInvocationID.x;
    uint k = ne(SRC0, 0);
    uint rows = ne(SRC0, 1);
    uint group = group_index();
    uint row = group % rows;
    uint rest = group / rows;
#if defined(EXPERTS)
    uint slot = rest % ne(DST, 1);
    uint token = rest / ne(DST, 1);
    if (token >= ne(DST, 2)) {
        return;
    }
    int id = ids[at(SRC2, slot, token, 0u, 0u) >> 2];
    bool valid = id >= 0 && uint(id) < ne(SRC0, 2);
    uint a = at(SRC0, 0u, row, valid ? uint(id) : 0u, 0u);
    uint b = at(SRC1, 0u, slot % ne(SRC1, 1), token, 0u);
    float sum = 0.0;
    for (uint i = l; i < k; i += GROUP) {
        sum += value_at(a, i) * B(b + i * nb(SRC1, 0));
    }
    sum = group_sum(sum);
    if (l == 0u) {
        d_data[at(DST, row, slot, token, 0u) >> 2] = valid ? sum : 0.0;
    }
#else
    uint blocks = (ne(DST, 1) + MAX_COLUMNS - 1u) / MAX_COLUMNS;
    uint first = (rest % blocks) * MAX_COLUMNS;
    uint columns = min(MAX_COLUMNS, ne(DST, 1) - first);
    uint i2 = rest / blocks % ne(DST, 2);
    uint i3 = rest / blocks / ne(DST, 2);
    if (i3 >= ne(DST, 3)) {
        return;
    }
    uint a = at(SRC0, 0u, row, i2 / (ne(DST, 2) / ne(SRC0, 2)), i3 / (ne(DST, 3) / ne(SRC0, 3)));
    float sums[MAX_COLUMNS];
    for (uint j = 0u; j < MAX_COLUMNS; ++j) {
        sums[j] = 0.0;
    }
    uint b = at(SRC1, 0u, first, i2, i3);
    uint step0 = nb(SRC1, 0);
    uint step1 = nb(SRC1, 1);
    for (uint i = l; i < k; i += GROUP) {
        float w = value_at(a, i);
        for (uint j = 0u; j < columns; ++j) {
            sums[j] += w * B(b + i * step0 + j * step1);
        }
    }
    for (uint j = 0u; j < columns; ++j) {
        float sum = group_sum(sums[j]);
        if (l == 0u) {
            d_data[at(DST, row, first + j, i2, i3) >> 2] = sum;
        }
    }
#endif
}
