// Writes one Q8_0 block at a 16-bit word index: scale = largest magnitude / 127, rounded to half; values divided by the unrounded
// scale.
layout(std430, binding = 5) buffer Result { uint16_t d_data[]; };

void write_block(uint word, float x[32]) {
    float top = 0.0;
    for (int i = 0; i < 32; ++i) {
        top = max(top, abs(x[i]));
    }
    float scale = top / 127.0;
    float inverse = scale != 0.0 ? 1.0 / scale : 0.0;
    d_data[word] = uint16_t(packHalf2x16(vec2(scale, 0.0)) & 0xFFFFu);
    for (int i = 0; i < 16; ++i) {
        // Half a step away from zero, as ggml rounds.
        float lo = x[2 * i] * inverse;
        float hi = x[2 * i + 1] * inverse;
        int q0 = int(sign(lo) * floor(abs(lo) + 0.5));
        int q1 = int(sign(hi) * floor(abs(hi) + 0.5));
        d_data[word + 1u + uint(i)] = uint16_t((uint(q0) & 0xFFu) | ((uint(q1) & 0xFFu) << 8));
    }
}
