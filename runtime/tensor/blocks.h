#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

/// The quantised blocks as they lie in GGUF files, little endian, without padding. `d` and `m` (`dmin`) are halfs.
/// x is the value of an element, q its stored number.
namespace schedscope {

constexpr int small_block = 32;  ///< elements of the Q*_0, Q*_1, IQ4_NL and MXFP4 blocks
constexpr int super_block = 256; ///< elements of all others

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
struct BlockMXFP4 { // x = 2^(e − 128) fp4_values[q]
    uint8_t e;
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

// Ternary blocks: x = d (q − 1), q one of 0, 1, 2.

struct BlockTQ1_0 { // 5 numbers a byte, 4 a byte of qh: byte = ⌈256 n / 243⌉, n their base 3 number, the first digit first
    uint8_t qs[(super_block - super_block / 16) / 5];
    uint8_t qh[super_block / 64];
    uint16_t d;
};
struct BlockTQ2_0 { // as Q2_K lays them out
    uint8_t qs[super_block / 4];
    uint16_t d;
};

// Blocks of vectors out of a code book (code_books.h): eight elements each, or in the IQ3 types four. A sign bit negates an
// element. `signs` of seven bits name eight signs: an even number of them is set.

struct BlockIQ2_XXS { // 8 groups of 32: 4 bytes of vectors, then 4 × 7 signs and a 4-bit scale. x = d (scale + ½) / 4 vector
    uint16_t d;
    uint8_t qs[super_block / 4];
};
struct BlockIQ2_XS { // 9 bits of a vector and 7 signs; 4-bit scales of 16 elements, as above
    uint16_t d;
    uint16_t qs[super_block / 8];
    uint8_t scales[super_block / 32];
};
struct BlockIQ2_S { // 10 bits of a vector, of which qh has the upper two, and 8 signs
    uint16_t d;
    uint8_t qs[super_block / 8];
    uint8_t signs[super_block / 8];
    uint8_t qh[super_block / 32];
    uint8_t scales[super_block / 32];
};
struct BlockIQ3_XXS { // 8 groups of 32: bytes of vectors; 4 × 7 signs and a 4-bit scale. x = d (scale + ½) / 2 vector
    uint16_t d;
    uint8_t qs[super_block / 4];
    uint8_t signs_and_scales[super_block / 8];
};
struct BlockIQ3_S { // 9 bits of a vector, of which qh has the upper one; 8 signs; 4-bit scales of 32. x = d (2 scale + 1) vector
    uint16_t d;
    uint8_t qs[super_block / 4];
    uint8_t qh[super_block / 32];
    uint8_t signs[super_block / 8];
    uint8_t scales[super_block / 64];
};
struct BlockIQ1_S { // 8 groups of 32, of which qh has 4 × 3 upper bits of vectors, a 3-bit scale, and whether ⅛ is taken off
    uint16_t d;     // x = d (2 scale + 1) (vector ± ⅛)
    uint8_t qs[super_block / 8];
    uint16_t qh[super_block / 32];
};
struct BlockIQ1_M { // of 8 elements qh has 3 upper bits and whether ⅛ is taken off; scales of 16 elements have 3 bits. The upper
    uint8_t qs[super_block / 8]; // four bits of each of `scales` make up d.
    uint8_t qh[super_block / 16];
    uint16_t scales[super_block / 64];
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_XS) == 136);
static_assert(sizeof(BlockMXFP4) == 17 && sizeof(BlockTQ1_0) == 54 && sizeof(BlockTQ2_0) == 66);
static_assert(sizeof(BlockIQ1_S) == 50 && sizeof(BlockIQ1_M) == 56 && sizeof(BlockIQ2_XXS) == 66 && sizeof(BlockIQ2_XS) == 74 &&
              sizeof(BlockIQ2_S) == 82 && sizeof(BlockIQ3_XXS) == 98 && sizeof(BlockIQ3_S) == 110);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176 &&
              sizeof(BlockQ6_K) == 210);

/// The uneven steps of the IQ4 types.
constexpr std::array<int8_t, 16> iq4_values = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Twice the numbers of FP4 (E2M1, of the OCP Microscaling Formats specification): a sign, two bits of exponent, one of mantissa.
constexpr std::array<int8_t, 16> fp4_values = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// 2^(e − 128), half of what the format's exponent e stands for: the values are doubled. 255, which is no number there, goes on
/// as in ggml.
constexpr float mxfp4_scale(uint8_t e) noexcept { return std::bit_cast<float>(e < 2 ? 0x00200000U << e : (e - 1U) << 23U); }

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
void expand(const BlockMXFP4& b, float* x) noexcept;
void expand(const BlockTQ1_0& b, float* x) noexcept;
void expand(const BlockTQ2_0& b, float* x) noexcept;
void expand(const BlockIQ1_S& b, float* x) noexcept;
void expand(const BlockIQ1_M& b, float* x) noexcept;
void expand(const BlockIQ2_XXS& b, float* x) noexcept;
void expand(const BlockIQ2_XS& b, float* x) noexcept;
void expand(const BlockIQ2_S& b, float* x) noexcept;
void expand(const BlockIQ3_XXS& b, float* x) noexcept;
void expand(const BlockIQ3_S& b, float* x) noexcept;

// 32 or 256 floats to one block. Q*_0, Q*_1, MXFP4 and TQ*_0 exactly as ggml's reference; the others to the nearest values at
// scales found simply. Not a number and infinity give some block, never undefined behaviour. IQ1 to IQ3 can't be written.
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
void quantise(const float* x, BlockMXFP4& b) noexcept;
void quantise(const float* x, BlockTQ1_0& b) noexcept;
void quantise(const float* x, BlockTQ2_0& b) noexcept;

/// Sets d of a block that can't be quantised to: whatever else is in it stands for numbers.
template <typename Block> void set_scale(Block& b, uint16_t d) noexcept { b.d = d; }
void set_scale(BlockIQ1_M& b, uint16_t d) noexcept;

} // namespace schedscope
