// Source 1 of the type B_…: B(byte offset) as float.
#if defined(B_F16)
layout(std430, binding = 2) readonly buffer Source1 { float16_t b_data[]; };
#define B(offset) float(b_data[(offset) >> 1])
#else
layout(std430, binding = 2) readonly buffer Source1 { float b_data[]; };
#define B(offset) b_data[(offset) >> 2]
#endif
