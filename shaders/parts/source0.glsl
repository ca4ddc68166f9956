// Source 0 of the type A_…: value_at(byte offset of the row, element) as float. TWO_MATRICES: source 2 is of that type as well,
// and of_source2 says which of the two is read.
#if defined(A_F32)
#define A_ELEMENT float
#define A_WIDE float
#elif defined(A_F16)
#define A_ELEMENT float16_t
#define A_WIDE float
#else
#define A_ELEMENT uint16_t
#define A_WIDE uint
#endif
layout(std430, binding = 1) readonly buffer Source0 { A_ELEMENT a_data[]; };
#if defined(TWO_MATRICES)
layout(std430, binding = 3) readonly buffer Source2 { A_ELEMENT second_data[]; };
bool of_source2 = false;
A_WIDE a_element(uint i) {
    if (of_source2) {
        return A_WIDE(second_data[i]);
    }
    return A_WIDE(a_data[i]);
}
#else
A_WIDE a_element(uint i) { return A_WIDE(a_data[i]); }
#endif
#if defined(A_F32)
float value_at(uint row, uint i) { return a_element((row >> 2) + i); }
#elif defined(A_F16)
float value_at(uint row, uint i) { return a_element((row >> 1) + i); }
#elif defined(A_BF16)
float value_at(uint row, uint i) { return bf16_to_float(a_element((row >> 1) + i)); }
#else
#define A_BLOCKS
#include "blocks.glsl"
#endif
