#pragma once

#include <array>
#include <cmath>
#include <cstdint>

/// The quantised blocks as they lie in GGUF files, little endian, without padding. `d` and `m` (`dmin`) are halfs.
/// x is the value of an element, q its stored number.
namespace schedscope {

constexpr int small_block = 32;  ///< elements of the Q*_0, Q*_1 and IQ4_NL blocks
constexpr int super_block = 256; ///< elements of the K blocks and IQ4_XS

/// What quantising a block needs: one through it, 0 for 0.
inline float inverse(float d) noexcept { return d != 0.0F ? 1.0F / d : 0.0F; }

/// The value furthest from zero, sign kept.
inline float extreme(const float* x, int n) noexcept {
    float most = 0.0F;
    for (int i = 0; i < n; ++i) {
        most = std::fabs(x[i]) > std::fabs(most) ? x[i] : most;
    }
    return most;
}

// In blocks of 32, byte j of `qs` holds element j in its low and element j + 16 in its high four bits.

struct BlockQ4_0 { // x = d (q − 8)
    uint16_t d;
    uint8_t qs[small_block / 2];
};
struct BlockQ4_1 { // x = d q + m
    uint16_t d;
    uint16_t m;
    uint8_t qs[small_block / 2];
};
struct BlockQ5_0 { // x = d (q − 16); bit j of qh is element j's fifth bit
    uint16_t d;
    uint8_t qh[4];
    uint8_t qs[small_block / 2];
};
struct BlockQ5_1 { // x = d q + m
    uint16_t d;
    uint16_t m;
    uint8_t qh[4];
    uint8_t qs[small_block / 2];
};
struct BlockQ8_0 { // x = d q
    uint16_t d;
    int8_t qs[small_block];
};
struct BlockIQ4_NL { // x = d iq4_values[q]
    uint16_t d;
    uint8_t qs[small_block / 2];
};

// Super blocks: groups of 16 or 32 elements with small integer scales, which d (and dmin) scale.

struct BlockQ2_K { // 16 groups of 16: x = d (scale & 15) q − dmin (scale >> 4)
    uint8_t scales[super_block / 16];
    uint8_t qs[super_block / 4];
    uint16_t d;
    uint16_t dmin;
};
struct BlockQ3_K { // 16 groups of 16: x = d (scale − 32) (q − 4), 6-bit scales; hmask holds the third bit of q
    uint8_t hmask[super_block / 8];
    uint8_t qs[super_block / 4];
    uint8_t scales[12];
    uint16_t d;
};
struct BlockQ4_K { // 8 groups of 32: x = d scale q − dmin min, 6-bit scales and mins
    uint16_t d;
    uint16_t dmin;
    uint8_t scales[12];
    uint8_t qs[super_block / 2];
};
struct BlockQ5_K { // as Q4_K; bit g of qh[i] is the fifth bit of element i of group g
    uint16_t d;
    uint16_t dmin;
    uint8_t scales[12];
    uint8_t qh[super_block / 8];
    uint8_t qs[super_block / 2];
};
struct BlockQ6_K { // 16 groups of 16: x = d scale (q − 32)
    uint8_t ql[super_block / 2];
    uint8_t qh[super_block / 4];
    int8_t scales[super_block / 16];
    uint16_t d;
};
struct BlockIQ4_XS { // 8 groups of 32: x = d (scale − 32) iq4_values[q], 6-bit scales
    uint16_t d;
    uint16_t scales_h;
    uint8_t scales_l[super_block / 64];
    uint8_t qs[super_block / 2];
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_XS) == 136);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176 &&
              sizeof(BlockQ6_K) == 210);

/// The uneven steps of the IQ4 types.
constexpr std::array<int8_t, 16> iq4_values = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Scale and minimum of group g (0 … 7) of a Q4_K or Q5_K block.
struct ScaleMin {
    uint8_t scale;
    uint8_t min;
};
constexpr ScaleMin scale_min(const uint8_t* scales, int g) noexcept {
    if (g < 4) {
        return {static_cast<uint8_t>(scales[g] & 63), static_cast<uint8_t>(scales[g + 4] & 63)};
    }
    return {static_cast<uint8_t>((scales[g + 4] & 0x0F) | ((scales[g - 4] >> 6) << 4)),
            static_cast<uint8_t>((scales[g + 4] >> 4) | ((scales[g] >> 6) << 4))};
}

/// Scale of group g (0 … 15) of a Q3_K block, −32 … 31.
constexpr int q3_scale(const uint8_t* scales, int g) noexcept {
    const int low = g < 8 ? scales[g] & 0x0F : scales[g - 8] >> 4;
    const int high = (scales[8 + g % 4] >> (2 * (g / 4))) & 3;
    return (low | (high << 4)) - 32;
}

/// Scale of group g (0 … 7) of an IQ4_XS block, −32 … 31.
constexpr int iq4_xs_scale(const BlockIQ4_XS& b, int g) noexcept {
    const int low = (b.scales_l[g / 2] >> (4 * (g % 2))) & 0x0F;
    const int high = (b.scales_h >> (2 * g)) & 3;
    return (low | (high << 4)) - 32;
}

// One block to 32 or 256 floats.
void expand(const BlockQ4_0& b, float* x) noexcept;
void expand(const BlockQ4_1& b, float* x) noexcept;
void expand(const BlockQ5_0& b, float* x) noexcept;
void expand(const BlockQ5_1& b, float* x) noexcept;
void expand(const BlockQ8_0& b, float* x) noexcept;
void expand(const BlockIQ4_NL& b, float* x) noexcept;
void expand(const BlockQ2_K& b, float* x) noexcept;
void expand(const BlockQ3_K& b, float* x) noexcept;
void expand(const BlockQ4_K& b, float* x) noexcept;
void expand(const BlockQ5_K& b, float* x) noexcept;
void expand(const BlockQ6_K& b, float* x) noexcept;
void expand(const BlockIQ4_XS& b, float* x) noexcept;

// 32 or 256 floats to one block. Q*_0 and Q*_1 exactly as ggml's reference; the others to the nearest values at scales found
// simply. Not a number and infinity give some block, never undefined behaviour.
void quantise(const float* x, BlockQ4_0& b) noexcept;
void quantise(const float* x, BlockQ4_1& b) noexcept;
void quantise(const float* x, BlockQ5_0& b) noexcept;
void quantise(const float* x, BlockQ5_1& b) noexcept;
void quantise(const float* x, BlockQ8_0& b) noexcept;
void quantise(const float* x, BlockIQ4_NL& b) noexcept;
void quantise(const float* x, BlockQ2_K& b) noexcept;
void quantise(const float* x, BlockQ3_K& b) noexcept;
void quantise(const float* x, BlockQ4_K& b) noexcept;
void quantise(const float* x, BlockQ5_K& b) noexcept;
void quantise(const float* x, BlockQ6_K& b) noexcept;
void quantise(const float* x, BlockIQ4_XS& b) noexcept;

} // namespace schedscope
