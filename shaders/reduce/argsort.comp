#version 450
// The numbers of a row's elements in the order of their values, equal values in their own order: a bitonic network whose
// comparisons all put the earlier element to the lower place, so that places beyond the row's end need not exist. extra(0): 1 for
// falling values; extra(1): how many numbers are sorted; extra(2): what this launch does.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
#include "order.glsl"
layout(local_size_x = 128) in;
layout(std430, binding = 5) buffer Result { int d_data[]; };

#define BLOCK 1024u // numbers that a workgroup sorts through shared memory: as in dispatch.cpp
shared uint keys[BLOCK];
shared uint ids[BLOCK];

// extra(2): what to do, in the lowest four bits, and a stretch in the others.
#define SORT_ALL 0    // blocks, of the numbers 0, 1, …
#define SORT_CHOSEN 1 // blocks, of the numbers that are in the result
#define FLIP 2        // compares the places of a stretch with those mirrored in it
#define DISPERSE 3    // compares the places of a stretch's lower half with those half a stretch above
#define DISPERSE_BLOCK 4 // the same for all stretches from a block's length down

bool is_before(uint key, uint id, uint other_key, uint other_id) {
    return key < other_key || (key == other_key && id < other_id);
}

// Pair p of those that a stretch's step compares: the lower and the higher place.
uvec2 places(uint p, uint stretch, bool flip) {
    uint in_stretch = p % (stretch / 2u);
    uint low = p / (stretch / 2u) * stretch + in_stretch;
    return uvec2(low, flip ? low + stretch - 1u - 2u * in_stretch : low + stretch / 2u);
}

void step_in_block(uint count, uint stretch, bool flip) {
    for (uint p = gl_LocalInvocationID.x; p < BLOCK / 2u; p += 128u) {
        uvec2 at = places(p, stretch, flip);
        if (at.y < count && is_before(keys[at.y], ids[at.y], keys[at.x], ids[at.x])) {
            uint key = keys[at.x];
            uint id = ids[at.x];
            keys[at.x] = keys[at.y];
            ids[at.x] = ids[at.y];
            keys[at.y] = key;
            ids[at.y] = id;
        }
    }
    barrier();
}

void main() {
    uint n = uint(extra(1));
    uint what = uint(extra(2)) & 15u;
    uint stretch = uint(extra(2)) >> 4;
    bool in_blocks = what != FLIP && what != DISPERSE;
    uint padded = 2u << findMSB(max(n, 2u) - 1u);
    uint groups_in_row = in_blocks ? (n + BLOCK - 1u) / BLOCK : (padded / 2u + 127u) / 128u;
    uint group = group_index();
    uint row = group / groups_in_row;
    if (row >= n_rows(SRC0)) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uvec4 e = position(SRC0, row * ne(SRC0, 0));
    uint a = at(SRC0, 0u, e.y, e.z, e.w);
    uint d = at(DST, 0u, e.y, e.z, e.w) >> 2;
    if (!in_blocks) {
        uint p = group % groups_in_row * 128u + l;
        uvec2 at = places(p, stretch, what == FLIP);
        if (at.y < n) {
            uint low = uint(d_data[d + at.x]);
            uint high = uint(d_data[d + at.y]);
            if (is_before(order_of(value_at(a, high), extra(0) != 0), high, order_of(value_at(a, low), extra(0) != 0), low)) {
                d_data[d + at.x] = int(high);
                d_data[d + at.y] = int(low);
            }
        }
        return;
    }
    uint first = group % groups_in_row * BLOCK;
    uint count = min(BLOCK, n - first);
    for (uint i = l; i < count; i += 128u) {
        uint id = what == SORT_ALL ? first + i : uint(d_data[d + first + i]);
        ids[i] = id;
        keys[i] = order_of(value_at(a, id), extra(0) != 0);
    }
    barrier();
    uint longest = 2u << findMSB(max(count, 2u) - 1u);
    if (what != DISPERSE_BLOCK) {
        for (uint s = 2u; s <= longest; s *= 2u) {
            step_in_block(count, s, true);
            for (uint half_s = s / 2u; half_s > 1u; half_s /= 2u) {
                step_in_block(count, half_s, false);
            }
        }
    } else {
        for (uint s = longest; s > 1u; s /= 2u) {
            step_in_block(count, s, false);
        }
    }
    for (uint i = l; i < count && first + i < ne(DST, 0); i += 128u) {
        d_data[d + first + i] = int(ids[i]);
    }
}
