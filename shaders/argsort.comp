#version 450
// The numbers of a row's elements in the order of their values: an element's place is the count of those before it, equal values in their own order.
// extra(0): 1 for falling values. Places from the result's row length on are dropped: the first k of a row.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
layout(local_size_x = 128) in;
layout(std430, binding = 5) buffer Result { int d_data[]; };

shared uint keys[128];

// Unsigned numbers in the order of the floats; the zeros are equal.
uint key_of(float x) {
    uint bits = x == 0.0 ? 0u : floatBitsToUint(x);
    uint rising = (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
    return extra(0) != 0 ? ~rising : rising;
}

void main() {
    uint n = ne(SRC0, 0);
    uint groups_in_row = (n + 127u) / 128u;
    uint group = group_index();
    uint row = group / groups_in_row;
    if (row >= n_rows(SRC0)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint i = group % groups_in_row * 128u + l;
    uvec4 e = position(SRC0, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint own = i < n ? key_of(value_at(a, i)) : 0u;
    uint place = 0u;
    for (uint j0 = 0u; j0 < n; j0 += 128u) {
        barrier();
        keys[l] = j0 + l < n ? key_of(value_at(a, j0 + l)) : 0u;
        barrier();
        uint count = min(128u, n - j0);
        for (uint j = 0u; j < count; ++j) {
            place += keys[j] < own || (keys[j] == own && j0 + j < i) ? 1u : 0u;
        }
    }
    if (i < n && place < ne(DST, 0)) {
        d_data[at(DST, place, e.y, e.z, e.w) >> 2] = int(i);
    }
}
