#version 450
// The numbers of a row's largest elements, a row per workgroup, in no order; of equal ones those with the lowest numbers. Digit
// by digit: how many elements begin with each digit tells with which the last chosen one begins.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "order.glsl"
layout(local_size_x_id = 0) in;
#define GROUP gl_WorkGroupSize.x
layout(std430, binding = 5) buffer Result { int d_data[]; };

shared uint counts[256];
shared uint begins, missing; // the digits found so far; how many elements that begin with them are still to be chosen
shared uint n_chosen;
shared uint in_subgroups[128];

// How many before this invocation have it, and all together.
uvec2 rank_of(bool has) {
    uint before = subgroupExclusiveAdd(has ? 1u : 0u);
    uint all = subgroupAdd(has ? 1u : 0u);
    if (gl_NumSubgroups == 1u) {
        return uvec2(before, all);
    }
    barrier();
    if (subgroupElect()) {
        in_subgroups[gl_SubgroupID] = all;
    }
    barrier();
    all = 0u;
    for (uint s = 0u; s < gl_NumSubgroups; ++s) {
        before += s < gl_SubgroupID ? in_subgroups[s] : 0u;
        all += in_subgroups[s];
    }
    return uvec2(before, all);
}

void main() {
    uint row = group_index();
    if (row >= n_rows(SRC0)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint n = ne(SRC0, 0);
    uvec4 e = position(SRC0, row * n);
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w) >> 2;
    if (l == 0u) {
        begins = 0u;
        missing = ne(DST, 0);
        n_chosen = 0u;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        for (uint i = l; i < 256u; i += GROUP) {
            counts[i] = 0u;
        }
        barrier();
        for (uint i = l; i < n; i += GROUP) {
            uint key = order_of(value_at(a, i), true);
            if (shift == 24 || key >> (shift + 8) == begins) {
                atomicAdd(counts[key >> shift & 255u], 1u);
            }
        }
        barrier();
        if (l == 0u) {
            uint digit = 0u;
            while (counts[digit] < missing) {
                missing -= counts[digit++];
            }
            begins = begins << 8 | digit;
        }
        barrier();
    }
    uint last = begins;
    uint equal_left = missing;
    for (uint i0 = 0u; i0 < n; i0 += GROUP) {
        uint i = i0 + l;
        uint key = i < n ? order_of(value_at(a, i), true) : 0xFFFFFFFFu;
        if (i < n && key < last) {
            d_data[d + atomicAdd(n_chosen, 1u)] = int(i);
        }
        if (equal_left > 0u) { // the same for all
            bool equal = i < n && key == last;
            uvec2 rank = rank_of(equal);
            if (equal && rank.x < equal_left) {
                d_data[d + atomicAdd(n_chosen, 1u)] = int(i);
            }
            equal_left -= min(equal_left, rank.y);
        }
    }
}
