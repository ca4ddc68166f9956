// Keys or values by rows, of a type that is chosen when the pipeline is made. Before each inclusion: TYPE (one of CACHE_…,
// shaders/CMakeLists.txt), FLOATS, HALVES and WORDS (names of the same memory as floats, as halves and as 16-bit words), ONE (name
// of: byte offset of the row, element → float) and EIGHT (name of: byte offset of the row, first element, row length → eight
// floats, zeros behind the row). Afterwards all of these are undefined. Blocks are those of runtime/tensor/blocks.h.
#if !defined(CACHE_BLOCK_WORDS)
#define CACHE_HAS_LEAST (TYPE == CACHE_Q4_1 || TYPE == CACHE_Q5_1)
#define CACHE_HAS_FIFTHS (TYPE == CACHE_Q5_0 || TYPE == CACHE_Q5_1)
// 16-bit words of a block: the scale, the least value, fifth bits, then fours.
#define CACHE_FIFTHS (CACHE_HAS_LEAST ? 2u : 1u)
#define CACHE_FOURS (CACHE_FIFTHS + (CACHE_HAS_FIFTHS ? 2u : 0u))
#define CACHE_BLOCK_WORDS (TYPE == CACHE_Q8_0 ? 17u : CACHE_FOURS + 8u)
#define CACHE_LESS (TYPE == CACHE_Q4_0 ? -8.0 : TYPE == CACHE_Q5_0 ? -16.0 : 0.0)
#endif
#include "uneven_steps.glsl"

float ONE(uint row, uint i) {
    if (TYPE == CACHE_F32) {
        return FLOATS[(row >> 2) + i];
    }
    if (TYPE == CACHE_F16) {
        return float(HALVES[(row >> 1) + i]);
    }
    if (TYPE == CACHE_BF16) {
        return bf16_to_float(uint(WORDS[(row >> 1) + i]));
    }
    uint block = (row >> 1) + (i >> 5) * CACHE_BLOCK_WORDS;
    float scale = unpackHalf2x16(uint(WORDS[block])).x;
    uint e = i & 31u;
    if (TYPE == CACHE_Q8_0) {
        return scale * float(bitfieldExtract(int(uint(WORDS[block + 1u + (e >> 1)])), int(e & 1u) * 8, 8));
    }
    uint number = uint(WORDS[block + CACHE_FOURS + ((e & 15u) >> 1)]) >> ((e & 1u) * 8u + (e >> 4) * 4u) & 15u;
    if (TYPE == CACHE_IQ4_NL) {
        return scale * float(uneven_steps[number]);
    }
    if (CACHE_HAS_FIFTHS) {
        number |= (uint(WORDS[block + CACHE_FIFTHS + (e >> 4)]) >> (e & 15u) & 1u) << 4;
    }
    float least = CACHE_HAS_LEAST ? unpackHalf2x16(uint(WORDS[block + 1u])).x : CACHE_LESS * scale;
    return scale * float(number) + least;
}

void EIGHT(uint row, uint i, uint n, out float w[8]) {
    if (TYPE == CACHE_F32 || TYPE == CACHE_F16 || TYPE == CACHE_BF16) {
#include "eight_by_one.glsl"
        return;
    }
    uint block = (row >> 1) + (i >> 5) * CACHE_BLOCK_WORDS;
    float scale = unpackHalf2x16(uint(WORDS[block])).x;
    uint e = i & 31u;
    if (TYPE == CACHE_Q8_0) {
        [[unroll]] for (uint j = 0u; j < 4u; ++j) {
            int two = int(uint(WORDS[block + 1u + (e >> 1) + j]));
            w[2u * j] = scale * float(bitfieldExtract(two, 0, 8));
            w[2u * j + 1u] = scale * float(bitfieldExtract(two, 8, 8));
        }
        return;
    }
    uint fifths = CACHE_HAS_FIFTHS ? uint(WORDS[block + CACHE_FIFTHS + (e >> 4)]) >> (e & 15u) : 0u;
    float least = CACHE_HAS_LEAST ? unpackHalf2x16(uint(WORDS[block + 1u])).x : CACHE_LESS * scale;
    [[unroll]] for (uint j = 0u; j < 8u; j += 2u) {
        uint two = uint(WORDS[block + CACHE_FOURS + (((e & 15u) + j) >> 1)]) >> (e >> 4) * 4u;
        uint first = (two & 15u) | (fifths >> j & 1u) << 4;
        uint second = (two >> 8 & 15u) | (fifths >> (j + 1u) & 1u) << 4;
        w[j] = TYPE == CACHE_IQ4_NL ? scale * float(uneven_steps[first & 15u]) : scale * float(first) + least;
        w[j + 1u] = TYPE == CACHE_IQ4_NL ? scale * float(uneven_steps[second & 15u]) : scale * float(second) + least;
    }
}
#undef TYPE
#undef FLOATS
#undef HALVES
#undef WORDS
#undef ONE
#undef EIGHT
