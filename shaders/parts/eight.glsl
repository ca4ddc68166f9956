// Eight neighbouring elements of source 0, the first one's number a multiple of eight: what blocks have in common is read once
// for them. Rows of other types may end between them; the rest are zeros.
#if defined(A_BLOCKS)
void eight_at(uint row, uint i, uint n, out float w[8]) {
    uint block = block_of(row, i);
    uint e = i % BLOCK_ELEMENTS;
    vec2 scale = scale_of(block, e);
    [[unroll]] for (uint j = 0u; j < 8u; j += 2u) {
        ivec2 numbers = numbers_of(block, e + j);
        w[j] = float(numbers.x) * scale.x + scale.y;
        w[j + 1u] = float(numbers.y) * scale.x + scale.y;
    }
}
#else
#define ONE value_at
void eight_at(uint row, uint i, uint n, out float w[8]) {
#include "eight_by_one.glsl"
}
#undef ONE
#endif
