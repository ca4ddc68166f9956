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
#else
#define A_BLOCKS
#include "blocks.glsl"
#endif
