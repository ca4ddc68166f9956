#version 450
// Products row by row of the weights, COLUMNS columns in one pass over them. ROW_PER_INVOCATION: each invocation of a subgroup has a row of its own and
// gets the columns' elements from its neighbours: for software drivers, where each access of memory costs as much as a hundred multiplications.
// Otherwise a subgroup has a row, and its invocations have stretches of eight elements.
// EXPERTS: source 2 names the weights' matrix for each expert slot and token. extra(0): workgroups for a matrix.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "common.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "eight.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 1;
layout(std430, binding = 3) readonly buffer Source2 { int ids[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };
#define ROWS_PER_GROUP 4u // as the host counts (dispatch.cpp)

// One product of a row of weights and columns, by all invocations of a subgroup. a, b: bytes to the row and the first column.
void multiply(uint a, uint b, uint columns, out float sums[COLUMNS]) {
    uint k = ne(SRC0, 0);
    uint step0 = nb(SRC1, 0);
    uint step1 = nb(SRC1, 1);
    [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
        sums[j] = 0.0;
    }
    float w[8];
#if defined(ROW_PER_INVOCATION)
    for (uint i = 0u; i < k; i += 8u) {
        eight_at(a, i, k, w);
        uint own = i + (gl_SubgroupInvocationID & 7u);
        bool inside = own < k;
        [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
            float x = inside && j < columns ? B(b + own * step0 + j * step1) : 0.0;
            sums[j] += w[0] * subgroupBroadcast(x, 0u) + w[1] * subgroupBroadcast(x, 1u) + w[2] * subgroupBroadcast(x, 2u) +
                       w[3] * subgroupBroadcast(x, 3u) + w[4] * subgroupBroadcast(x, 4u) + w[5] * subgroupBroadcast(x, 5u) +
                       w[6] * subgroupBroadcast(x, 6u) + w[7] * subgroupBroadcast(x, 7u);
        }
    }
#else
    for (uint i = gl_SubgroupInvocationID * 8u; i < k; i += gl_SubgroupSize * 8u) {
        eight_at(a, i, k, w);
        uint n = min(8u, k - i);
        [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
            uint column = b + i * step0 + min(j, columns - 1u) * step1;
            if (n == 8u) {
                [[unroll]] for (uint e = 0u; e < 8u; ++e) {
                    sums[j] += w[e] * B(column + e * step0);
                }
            } else {
                for (uint e = 0u; e < n; ++e) {
                    sums[j] += w[e] * B(column + e * step0);
                }
            }
        }
    }
    [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
        sums[j] = subgroupAdd(sums[j]);
    }
#endif
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
    float sums[COLUMNS];
#if defined(ROW_PER_INVOCATION)
    uint row = in_matrix * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    multiply(a + min(row, rows - 1u) * nb(SRC0, 1), b, columns, sums);
    if (row < rows) {
        [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
            if (j < columns) {
                d_data[(d + row * 4u + j * nb(DST, 1)) >> 2] = valid ? sums[j] : 0.0;
            }
        }
    }
#else
    uint end = min(rows, (in_matrix + 1u) * ROWS_PER_GROUP);
    for (uint row = in_matrix * ROWS_PER_GROUP + gl_SubgroupID; row < end; row += gl_NumSubgroups) {
        multiply(a + row * nb(SRC0, 1), b, columns, sums);
        if (subgroupElect()) {
            [[unroll]] for (uint j = 0u; j < COLUMNS; ++j) {
                if (j < columns) {
                    d_data[(d + row * 4u + j * nb(DST, 1)) >> 2] = valid ? sums[j] : 0.0;
                }
            }
        }
    }
#endif
}
