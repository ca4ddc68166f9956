// The result of the type D_…: STORE(byte offset, float).
#if defined(D_F16)
layout(std430, binding = 5) buffer Result { float16_t d_data[]; };
#define STORE(offset, v) d_data[(offset) >> 1] = float16_t(v)
#elif defined(D_BF16)
layout(std430, binding = 5) buffer Result { uint16_t d_data[]; };
#define STORE(offset, v) d_data[(offset) >> 1] = uint16_t(bf16_of(v))
#else
layout(std430, binding = 5) buffer Result { float d_data[]; };
#define STORE(offset, v) d_data[(offset) >> 2] = (v)
#endif
