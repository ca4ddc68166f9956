// A source by rows. Before each inclusion: ELEMENTS_F32, ELEMENTS_F16 or ELEMENTS_Q8_0, and DATA (the array's name), BINDING,
// BLOCK (the buffer's name), ONE (name of: byte offset of the row, element → float) and EIGHT (name of: byte offset of the row,
// first element, row length → eight floats). Afterwards all of these are undefined.
#if defined(ELEMENTS_F32)
layout(std430, binding = BINDING) readonly buffer BLOCK { float DATA[]; };
float ONE(uint row, uint i) { return DATA[(row >> 2) + i]; }
#elif defined(ELEMENTS_F16)
layout(std430, binding = BINDING) readonly buffer BLOCK { float16_t DATA[]; };
float ONE(uint row, uint i) { return float(DATA[(row >> 1) + i]); }
#else
layout(std430, binding = BINDING) readonly buffer BLOCK { uint16_t DATA[]; };
float ONE(uint row, uint i) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    int two = int(uint(DATA[block + 1u + ((i & 31u) >> 1)]));
    return unpackHalf2x16(uint(DATA[block])).x * float(bitfieldExtract(two, int(i & 1u) * 8, 8));
}
void EIGHT(uint row, uint i, uint n, out float w[8]) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    float scale = unpackHalf2x16(uint(DATA[block])).x;
    uint first = block + 1u + ((i & 31u) >> 1);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
        int two = int(uint(DATA[first + j]));
        w[2u * j] = scale * float(bitfieldExtract(two, 0, 8));
        w[2u * j + 1u] = scale * float(bitfieldExtract(two, 8, 8));
    }
}
#endif
#if !defined(ELEMENTS_Q8_0)
#include "eight_by_one.glsl"
#endif
#undef ELEMENTS_F32
#undef ELEMENTS_F16
#undef ELEMENTS_Q8_0
#undef DATA
#undef BINDING
#undef BLOCK
#undef ONE
#undef EIGHT
