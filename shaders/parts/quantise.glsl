// The result of the type D_…, blocks of 32: write_block(16-bit word index, 32 floats), as runtime/tensor/blocks_small.cpp and
// blocks_k_quantise.cpp (IQ4_NL) do it; D_WORDS: of a block.
layout(std430, binding = 5) buffer Result { uint16_t d_data[]; };

float inverse_of(float d) { return d != 0.0 ? 1.0 / d : 0.0; }
void write_half(uint word, float x) { d_data[word] = uint16_t(packHalf2x16(vec2(x, 0.0)) & 0xFFFFu); }

#if defined(D_Q8_0)
#define D_WORDS 17u
void write_block(uint word, float x[32]) {
    float top = 0.0;
    for (int i = 0; i < 32; ++i) {
        top = max(top, abs(x[i]));
    }
    float scale = top / 127.0;
    float inverse = inverse_of(scale);
    write_half(word, scale);
    for (int i = 0; i < 16; ++i) {
        // Half a step away from zero, as ggml rounds.
        float lo = x[2 * i] * inverse;
        float hi = x[2 * i + 1] * inverse;
        int q0 = int(sign(lo) * floor(abs(lo) + 0.5));
        int q1 = int(sign(hi) * floor(abs(hi) + 0.5));
        d_data[word + 1u + uint(i)] = uint16_t((uint(q0) & 0xFFu) | ((uint(q1) & 0xFFu) << 8));
    }
}
#else
// The lower four bits: byte j has those of elements j and j + 16.
void write_fours(uint word, uint q[32]) {
    for (uint i = 0u; i < 8u; ++i) {
        uint j = 2u * i;
        uint first = (q[j] & 15u) | (q[j + 16u] & 15u) << 4;
        uint second = (q[j + 1u] & 15u) | (q[j + 17u] & 15u) << 4;
        d_data[word + i] = uint16_t(first | second << 8);
    }
}
// The value furthest from zero, sign kept.
float extreme(float x[32]) {
    float most = 0.0;
    for (int i = 0; i < 32; ++i) {
        most = abs(x[i]) > abs(most) ? x[i] : most;
    }
    return most;
}
#if defined(D_IQ4_NL)
#define D_WORDS 9u
#include "uneven_steps.glsl"
// Between two steps the upper one from their middle on.
uint nearest_step(float x) {
    uint n = 0u;
    for (uint i = 0u; i < 15u; ++i) {
        n += x < float(uneven_steps[i] + uneven_steps[i + 1u]) / 2.0 ? 0u : 1u;
    }
    return n;
}
void write_block(uint word, float x[32]) {
    float inverse = inverse_of(extreme(x) / float(uneven_steps[0]));
    uint q[32];
    float with_x = 0.0, with_itself = 0.0;
    for (int i = 0; i < 32; ++i) {
        q[i] = nearest_step(x[i] * inverse);
        float step = float(uneven_steps[q[i]]), weighted = x[i] * x[i] * step;
        with_x += weighted * x[i];
        with_itself += weighted * step;
    }
    write_half(word, with_x * inverse_of(with_itself));
    write_fours(word + 1u, q);
}
#else
#if defined(D_Q5_0) || defined(D_Q5_1)
#define MOST 31
#else
#define MOST 15
#endif
void write_block(uint word, float x[32]) {
#if defined(D_Q4_0) || defined(D_Q5_0) // around zero
    float middle = float(MOST / 2 + 1);
    float d = extreme(x) / -middle;
    float origin = 0.0, plus = middle + 0.5;
#else // from the least on
    float origin = x[0], greatest = x[0], plus = 0.5;
    for (int i = 1; i < 32; ++i) {
        origin = min(origin, x[i]);
        greatest = max(greatest, x[i]);
    }
    float d = (greatest - origin) / float(MOST);
#endif
    write_half(word++, d);
#if defined(D_Q4_1) || defined(D_Q5_1)
    write_half(word++, origin);
#endif
    float inverse = inverse_of(d);
    uint q[32];
    uint fifths = 0u;
    for (uint i = 0u; i < 32u; ++i) {
        float v = (x[i] - origin) * inverse + plus;
        q[i] = v > 0.0 ? (v < float(MOST) ? uint(v) : uint(MOST)) : 0u;
        fifths |= q[i] >> 4 << i;
    }
#if MOST == 31
    d_data[word++] = uint16_t(fifths & 0xFFFFu);
    d_data[word++] = uint16_t(fifths >> 16);
#endif
    write_fours(word, q);
}
#if defined(D_Q4_0)
#define D_WORDS 9u
#elif defined(D_Q4_1)
#define D_WORDS 10u
#elif defined(D_Q5_0)
#define D_WORDS 11u
#else
#define D_WORDS 12u
#endif
#endif
#endif
