// Quantised blocks (runtime/tensor/blocks.h) as source 0: an array of 16-bit words. For each type A_…: the words of a block, its
// elements, how an element's value follows from its number (value = number × x + y; the same for 16 neighbours), and the numbers
// of two neighbours, the first one even. A block is named by its first word; one of an odd number of bytes (BLOCK_BYTES) by its
// first byte, and has no words.
#if defined(A_MXFP4)
uint byte_of(uint block, uint byte) { return a_element((block + byte) >> 1) >> (((block + byte) & 1u) * 8u) & 255u; }
#else
uint word_of(uint block, uint byte) { return a_element(block + (byte >> 1)); }
uint byte_of(uint block, uint byte) { return word_of(block, byte) >> ((byte & 1u) * 8u) & 255u; }
float half_of(uint block, uint byte) { return unpackHalf2x16(word_of(block, byte)).x; }
// The same bits of two neighbouring bytes.
ivec2 bits_of(uint block, uint byte, uint shift, uint mask) {
    uint two = word_of(block, byte) >> shift;
    return ivec2(two & mask, two >> 8 & mask);
}
// Bit n of two neighbouring bytes, as 2^to.
ivec2 bit_of(uint block, uint byte, uint n, uint to) { return bits_of(block, byte, n, 1u) << int(to); }
#endif

#if defined(A_IQ4_NL) || defined(A_IQ4_XS)
#include "uneven_steps.glsl"
ivec2 uneven(ivec2 numbers) { return ivec2(uneven_steps[numbers.x], uneven_steps[numbers.y]); }
#endif

#if defined(A_MXFP4)
#define BLOCK_ELEMENTS 32u
#define BLOCK_BYTES 17u
const int fp4_values[16] = int[](0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12); // doubled
vec2 scale_of(uint block, uint e) { // half of the exponent's power of two, as blocks.h says
    uint exponent = byte_of(block, 0u);
    return vec2(uintBitsToFloat(exponent < 2u ? 0x00200000u << exponent : (exponent - 1u) << 23), 0.0);
}
ivec2 numbers_of(uint block, uint e) {
    uint byte = 1u + (e & 15u), shift = (e & 16u) >> 2;
    return ivec2(fp4_values[byte_of(block, byte) >> shift & 15u], fp4_values[byte_of(block, byte + 1u) >> shift & 15u]);
}
#elif defined(A_Q4_0) || defined(A_Q4_1) || defined(A_Q5_0) || defined(A_Q5_1) || defined(A_Q8_0) || defined(A_IQ4_NL)
#define BLOCK_ELEMENTS 32u
// Four bits of element e: the bytes' lower halves, then the upper ones.
ivec2 four_bits(uint block, uint begin, uint e) { return bits_of(block, begin + (e & 15u), (e & 16u) >> 2, 15u); }
// The fifth bits are bits e and e + 1 of four bytes.
ivec2 fifth_bits(uint block, uint begin, uint e) {
    uint two = word_of(block, begin + (e >> 4) * 2u) >> (e & 15u);
    return ivec2((two & 1u) << 4, (two >> 1 & 1u) << 4);
}
#if defined(A_Q4_0)
#define BLOCK_WORDS 9u
vec2 scale_of(uint block, uint e) { return half_of(block, 0u) * vec2(1.0, -8.0); }
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 2u, e); }
#elif defined(A_Q4_1)
#define BLOCK_WORDS 10u
vec2 scale_of(uint block, uint e) { return vec2(half_of(block, 0u), half_of(block, 2u)); }
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 4u, e); }
#elif defined(A_Q5_0)
#define BLOCK_WORDS 11u
vec2 scale_of(uint block, uint e) { return half_of(block, 0u) * vec2(1.0, -16.0); }
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 6u, e) | fifth_bits(block, 2u, e); }
#elif defined(A_Q5_1)
#define BLOCK_WORDS 12u
vec2 scale_of(uint block, uint e) { return vec2(half_of(block, 0u), half_of(block, 2u)); }
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 8u, e) | fifth_bits(block, 4u, e); }
#elif defined(A_Q8_0)
#define BLOCK_WORDS 17u
vec2 scale_of(uint block, uint e) { return vec2(half_of(block, 0u), 0.0); }
ivec2 numbers_of(uint block, uint e) {
    int two = int(word_of(block, 2u + e));
    return ivec2(bitfieldExtract(two, 0, 8), bitfieldExtract(two, 8, 8));
}
#else
#define BLOCK_WORDS 9u
vec2 scale_of(uint block, uint e) { return vec2(half_of(block, 0u), 0.0); }
ivec2 numbers_of(uint block, uint e) { return uneven(four_bits(block, 2u, e)); }
#endif
#else
#define BLOCK_ELEMENTS 256u
#if defined(A_Q4_K) || defined(A_Q5_K)
// Six bits each of scale and minimum for 32 elements: the first four whole in a byte, the others in two parts.
vec2 scale_of(uint block, uint e) {
    uint group = e >> 5;
    uint low = byte_of(block, 4u + group);
    uint high = byte_of(block, 8u + group);
    uint scale = low & 63u;
    uint minimum = high & 63u;
    if (group >= 4u) {
        scale = (high & 15u) | byte_of(block, group) >> 6 << 4;
        minimum = high >> 4 | low >> 6 << 4;
    }
    return vec2(half_of(block, 0u) * float(scale), -half_of(block, 2u) * float(minimum));
}
ivec2 four_bits(uint block, uint begin, uint e) {
    return bits_of(block, begin + (e >> 6) * 32u + (e & 31u), (e & 32u) >> 3, 15u);
}
#if defined(A_Q4_K)
#define BLOCK_WORDS 72u
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 16u, e); }
#else
#define BLOCK_WORDS 88u
ivec2 numbers_of(uint block, uint e) { return four_bits(block, 48u, e) | bit_of(block, 16u + (e & 31u), e >> 5, 4u); }
#endif
#elif defined(A_Q6_K)
#define BLOCK_WORDS 105u
vec2 scale_of(uint block, uint e) {
    float scale = half_of(block, 208u) * float(bitfieldExtract(int(byte_of(block, 192u + (e >> 4))), 0, 8));
    return vec2(scale, -32.0 * scale);
}
ivec2 numbers_of(uint block, uint e) {
    uint part = e >> 5 & 3u; // of a half's 128 elements
    uint low = (e >> 7) * 64u + (part & 1u) * 32u + (e & 31u);
    uint high = 128u + (e >> 7) * 32u + (e & 31u);
    return bits_of(block, low, (part >> 1) * 4u, 15u) | bits_of(block, high, 2u * part, 3u) << 4;
}
#elif defined(A_Q2_K) || defined(A_Q3_K)
// Two bits of 16 elements in a byte's quarter.
ivec2 two_bits(uint block, uint begin, uint e) { return bits_of(block, begin + (e >> 7) * 32u + (e & 31u), e >> 4 & 6u, 3u); }
#if defined(A_Q2_K)
#define BLOCK_WORDS 42u
vec2 scale_of(uint block, uint e) {
    uint both = byte_of(block, e >> 4);
    return vec2(half_of(block, 80u) * float(both & 15u), -half_of(block, 82u) * float(both >> 4));
}
ivec2 numbers_of(uint block, uint e) { return two_bits(block, 16u, e); }
#else
#define BLOCK_WORDS 55u
vec2 scale_of(uint block, uint e) {
    uint group = e >> 4;
    uint low = byte_of(block, 96u + (group & 7u)) >> (group >> 3) * 4u & 15u;
    uint high = byte_of(block, 104u + (group & 3u)) >> (group >> 2) * 2u & 3u;
    float scale = half_of(block, 108u) * float(int(low | high << 4) - 32);
    return vec2(scale, -4.0 * scale);
}
ivec2 numbers_of(uint block, uint e) { return two_bits(block, 32u, e) | bit_of(block, e & 31u, e >> 5, 2u); }
#endif
#else // IQ4_XS
#define BLOCK_WORDS 68u
vec2 scale_of(uint block, uint e) {
    uint group = e >> 5;
    uint low = byte_of(block, 4u + (group >> 1)) >> (group & 1u) * 4u & 15u;
    uint high = word_of(block, 2u) >> group * 2u & 3u;
    return vec2(half_of(block, 0u) * float(int(low | high << 4) - 32), 0.0);
}
ivec2 numbers_of(uint block, uint e) { return uneven(bits_of(block, 8u + (e >> 5) * 16u + (e & 15u), (e & 16u) >> 2, 15u)); }
#endif
#endif

// The block of a row (its first byte) with element i.
uint block_of(uint row, uint i) {
#if defined(BLOCK_BYTES)
    return row + i / BLOCK_ELEMENTS * BLOCK_BYTES;
#else
    return (row >> 1) + i / BLOCK_ELEMENTS * BLOCK_WORDS;
#endif
}

float value_at(uint row, uint i) {
    uint block = block_of(row, i);
    uint e = i % BLOCK_ELEMENTS;
    vec2 scale = scale_of(block, e);
    ivec2 numbers = numbers_of(block, e & ~1u);
    return float((e & 1u) == 0u ? numbers.x : numbers.y) * scale.x + scale.y;
}
