#version 450
// Products row by row of the weights, COLUMNS columns in one pass over them. ROW_PER_INVOCATION: each invocation of a subgroup
// has a row of its own and gets the columns' elements from its neighbours: for software drivers, where each access of memory
// costs as much as a hundred multiplications. Otherwise a subgroup has a row, and its invocations have stretches of eight
// elements. EXPERTS: source 2 names the weights' matrix for each expert slot and token. extra(0): workgroups for a matrix. Fused:
// TWO_MATRICES: source 2 is a second matrix, and the result is a function of the first's product times the second's product.
// Otherwise source 2 may be a term that is added, and a function may follow. AFTERWARDS tells.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "common.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "eight.glsl"
#include "functions.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 1;
layout(constant_id = 2) const uint AFTERWARDS = 0; // 0: nothing, 1: source 2 is added, 2 + n: and unary function n is applied
#if defined(EXPERTS)
layout(std430, binding = 3) readonly buffer Source2 { int ids[]; };
#elif !defined(TWO_MATRICES)
layout(std430, binding = 3) readonly buffer Source2 { float c_data[]; };
#endif
layout(std430, binding = 5) buffer Result { float d_data[]; };
#define ROWS_PER_GROUP 4u // as the host counts (dispatch.cpp)

// Eight elements of a column from element i on, for all invocations of a subgroup or for each its own; beyond its end zeros.
#if defined(ROW_PER_INVOCATION)
void eight_of_column(uint column, uint step, uint i, uint k, out float x[8]) {
    uint own = i + (gl_SubgroupInvocationID & 7u);
    float value = own < k ? B(column + own * step) : 0.0;
    x[0] = subgroupBroadcast(value, 0u);
    x[1] = subgroupBroadcast(value, 1u);
    x[2] = subgroupBroadcast(value, 2u);
    x[3] = subgroupBroadcast(value, 3u);
    x[4] = subgroupBroadcast(value, 4u);
    x[5] = subgroupBroadcast(value, 5u);
    x[6] = subgroupBroadcast(value, 6u);
    x[7] = subgroupBroadcast(value, 7u);
}
float times(float w[8], float x[8]) {
    return w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3] + w[4] * x[4] + w[5] * x[5] + w[6] * x[6] + w[7] * x[7];
}
#else
void eight_of_column(uint column, uint step, uint i, uint k, out float x[8]) {
    if (i + 8u <= k) {
        [[unroll]] for (uint e = 0u; e < 8u; ++e) {
            x[e] = B(column + (i + e) * step);
        }
    } else {
        [[unroll]] for (uint e = 0u; e < 8u; ++e) {
            x[e] = i + e < k ? B(column + (i + e) * step) : 0.0;
        }
    }
}
float times(float w[8], float x[8]) {
    float sum = 0.0;
    [[unroll]] for (uint e = 0u; e < 8u; ++e) {
        sum += w[e] * x[e];
    }
    return sum;
}
#endif

// The products of a row of weights (of the second matrix: row a2) and columns, by all invocations of a subgroup. a, b: bytes to
// the row and the first column.
void multiply(uint a, uint a2, uint b, uint columns, out float sums[COLUMNS], out float sums2[COLUMNS]) {
    uint k = ne(SRC0, 0);
    uint step0 = nb(SRC1, 0);
    uint step1 = nb(SRC1, 1);
    [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
        sums[j] = 0.0;
        sums2[j] = 0.0;
    }
#if defined(ROW_PER_INVOCATION)
    for (uint i = 0u; i < k; i += 8u) {
#else
    for (uint i = gl_SubgroupInvocationID * 8u; i < k; i += gl_SubgroupSize * 8u) {
#endif
        float w[8], x[8];
        eight_at(a, i, k, w);
#if defined(TWO_MATRICES)
        float w2[8];
        of_source2 = true;
        eight_at(a2, i, k, w2);
        of_source2 = false;
#endif
        [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
            eight_of_column(b + min(j, columns - 1u) * step1, step0, i, k, x);
            sums[j] += times(w, x);
#if defined(TWO_MATRICES)
            sums2[j] += times(w2, x);
#endif
        }
    }
#if !defined(ROW_PER_INVOCATION)
    [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
        sums[j] = subgroupAdd(sums[j]);
#if defined(TWO_MATRICES)
        sums2[j] = subgroupAdd(sums2[j]);
#endif
    }
#endif
}

// What becomes of the products of a row with a column.
float finished(float sum, float sum2, uint row, uint column, uint i2, uint i3) {
#if !defined(EXPERTS) && !defined(TWO_MATRICES)
    if (AFTERWARDS != 0u) {
        sum += c_data[at_repeated(SRC2, row, column, i2, i3) >> 2];
    }
#endif
    if (AFTERWARDS > 1u) {
        sum = activation(int(AFTERWARDS) - 2, sum);
    }
#if defined(TWO_MATRICES)
    sum *= sum2;
#endif
    return sum;
}

void main() {
    uint rows = ne(SRC0, 1);
    uint group = group_index();
    uint in_matrix = group % uint(extra(0));
    uint rest = group / uint(extra(0));
#if defined(EXPERTS)
    uint slot = rest % ne(DST, 1);
    uint token = rest / ne(DST, 1);
    if (token >= ne(DST, 2)) {
        return;
    }
    int id = ids[at(SRC2, slot, token, 0u, 0u) >> 2];
    bool valid = id >= 0 && uint(id) < ne(SRC0, 2);
    uint a = at(SRC0, 0u, 0u, valid ? uint(id) : 0u, 0u);
    uint b = at(SRC1, 0u, slot % ne(SRC1, 1), token, 0u);
    uint d = at(DST, 0u, slot, token, 0u);
    uint columns = 1u;
    uint first = slot;
    uint i2 = token;
    uint i3 = 0u;
#else
    uint blocks = (ne(DST, 1) + COLUMNS - 1u) / COLUMNS;
    uint first = (rest % blocks) * COLUMNS;
    uint columns = min(COLUMNS, ne(DST, 1) - first);
    uint i2 = rest / blocks % ne(DST, 2);
    uint i3 = rest / blocks / ne(DST, 2);
    if (i3 >= ne(DST, 3)) {
        return;
    }
    uint a = at(SRC0, 0u, 0u, i2 / (ne(DST, 2) / ne(SRC0, 2)), i3 / (ne(DST, 3) / ne(SRC0, 3)));
    uint b = at(SRC1, 0u, first, i2, i3);
    uint d = at(DST, 0u, first, i2, i3);
    const bool valid = true;
#endif
    uint a2 = 0u;
    uint step_a2 = 0u;
#if defined(TWO_MATRICES)
    a2 = at(SRC2, 0u, 0u, i2 / (ne(DST, 2) / ne(SRC2, 2)), i3 / (ne(DST, 3) / ne(SRC2, 3)));
    step_a2 = nb(SRC2, 1);
#endif
    float sums[COLUMNS], sums2[COLUMNS];
#if defined(ROW_PER_INVOCATION)
    uint row = in_matrix * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint read = min(row, rows - 1u);
    multiply(a + read * nb(SRC0, 1), a2 + read * step_a2, b, columns, sums, sums2);
    if (row < rows) {
        [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
            if (j < columns) {
                d_data[(d + row * 4u + j * nb(DST, 1)) >> 2] =
                    valid ? finished(sums[j], sums2[j], row, first + j, i2, i3) : 0.0;
            }
        }
    }
#else
    uint end = min(rows, (in_matrix + 1u) * ROWS_PER_GROUP);
    for (uint row = in_matrix * ROWS_PER_GROUP + gl_SubgroupID; row < end; row += gl_NumSubgroups) {
        multiply(a + row * nb(SRC0, 1), a2 + row * step_a2, b, columns, sums, sums2);
        if (subgroupElect()) {
            [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
                if (j < columns) {
                    d_data[(d + row * 4u + j * nb(DST, 1)) >> 2] =
                        valid ? finished(sums[j], sums2[j], row, first + j, i2, i3) : 0.0;
                }
            }
        }
    }
#endif
}
