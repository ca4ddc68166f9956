// Source 0 of the type A_…: value(byte offset of the row, element) as float.
#if defined(A_F32)
layout(std430, binding = 1) readonly buffer Source0 { float a_data[]; };
float value_at(uint row, uint i) { return a_data[(row >> 2) + i]; }
#elif defined(A_F16)
layout(std430, binding = 1) readonly buffer Source0 { float16_t a_data[]; };
float value_at(uint row, uint i) { return float(a_data[(row >> 1) + i]); }
#elif defined(A_BF16)
layout(std430, binding = 1) readonly buffer Source0 { uint16_t a_data[]; };
float value_at(uint row, uint i) { return bf16_to_float(uint(a_data[(row >> 1) + i])); }
#elif defined(A_Q8_0)
// 34 bytes: a half scale, 32 signed bytes. Blocks are 2-byte aligned.
layout(std430, binding = 1) readonly buffer Source0 { uint16_t a_data[]; };
float value_at(uint row, uint i) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    uint word = uint(a_data[block + 1u + ((i & 31u) >> 1)]);
    int q = bitfieldExtract(int(word), int(i & 1u) * 8, 8);
    return unpackHalf2x16(uint(a_data[block])).x * float(q);
}
#elif defined(A_Q4_0)
// 18 bytes: a half scale, 16 bytes with element i in the low and i + 16 in the high half of byte i.
layout(std430, binding = 1) readonly buffer Source0 { uint16_t a_data[]; };
float value_at(uint row, uint i) {
    uint block = (row >> 1) + (i >> 5) * 9u;
    uint j = i & 15u;
    uint word = uint(a_data[block + 1u + (j >> 1)]);
    int q = int((word >> ((j & 1u) * 8u + (i & 16u) / 4u)) & 15u) - 8;
    return unpackHalf2x16(uint(a_data[block])).x * float(q);
}
#endif
