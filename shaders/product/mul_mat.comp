#version 450
// Products with many columns: tiles of 32 × 32 results per workgroup, stretches of 16 of the inner dimension in shared memory, 4
// × 4 results an invocation. extra(0): tiles in a row of tiles (along the weights' rows), extra(1): tiles along the columns.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "eight.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 5) buffer Result { float d_data[]; };

#define TILE 32u
#define DEPTH 16u
shared float tile_a[DEPTH][TILE + 1];
shared float tile_b[DEPTH][TILE + 1];

void main() {
    uint l = gl_LocalInvocationID.x;
    uint group = group_index();
    uint tiles_m = uint(extra(0));
    uint tiles_n = uint(extra(1));
    uint m0 = (group % tiles_m) * TILE;
    uint n0 = (group / tiles_m % tiles_n) * TILE;
    uint matrix = group / tiles_m / tiles_n;
    uint i2 = matrix % ne(DST, 2);
    uint i3 = matrix / ne(DST, 2);
    if (i3 >= ne(DST, 3)) {
        return;
    }
    uint k = ne(SRC0, 0);
    uint m = ne(DST, 0);
    uint n = ne(DST, 1);
    uint a = at(SRC0, 0u, 0u, i2 / (ne(DST, 2) / ne(SRC0, 2)), i3 / (ne(DST, 3) / ne(SRC0, 3)));
    uint b = at(SRC1, 0u, 0u, i2, i3);
    uint a1 = nb(SRC0, 1);
    uint b0 = nb(SRC1, 0);
    uint b1 = nb(SRC1, 1);
    uint row = (l & 7u) * 4u;
    uint column = (l >> 3) * 4u;
    float sums[4][4];
    for (uint i = 0u; i < 4u; ++i) {
        for (uint j = 0u; j < 4u; ++j) {
            sums[i][j] = 0.0;
        }
    }
    for (uint k0 = 0u; k0 < k; k0 += DEPTH) {
        // Each invocation brings eight neighbours of a row of weights, and eight elements of columns. Rows beyond the last are
        // not stored.
        float w[8];
        uint begin = (l & 1u) * 8u;
        eight_at(a + min(m0 + (l >> 1), m - 1u) * a1, k0 + begin, k, w);
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            tile_a[begin + i][l >> 1] = w[i];
        }
        for (uint i = l; i < TILE * DEPTH; i += 64u) {
            uint depth = i % DEPTH;
            uint line = i / DEPTH;
            bool inside = k0 + depth < k;
            tile_b[depth][line] = inside && n0 + line < n ? B(b + (n0 + line) * b1 + (k0 + depth) * b0) : 0.0;
        }
        barrier();
        for (uint depth = 0u; depth < DEPTH; ++depth) {
            for (uint i = 0u; i < 4u; ++i) {
                float w = tile_a[depth][row + i];
                for (uint j = 0u; j < 4u; ++j) {
                    sums[i][j] += w * tile_b[depth][column + j];
                }
            }
        }
        barrier();
    }
    for (uint i = 0u; i < 4u; ++i) {
        for (uint j = 0u; j < 4u; ++j) {
            if (m0 + row + i < m && n0 + column + j < n) {
                d_data[at(DST, m0 + row + i, n0 + column + j, i2, i3) >> 2] = sums[i][j];
            }
        }
    }
}
