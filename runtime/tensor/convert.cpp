#include "runtime/tensor/convert.h"

#include "runtime/tensor/blocks.h"

#include <algorithm>

namespace schedscope {

namespace {

template <typename Block> bool expand_row(Type type, const void* row, float* out, int64_t n) noexcept {
    const int64_t width = traits(type).block;
    const auto* blocks = static_cast<const Block*>(row);
    for (int64_t i = 0; i < n / width; ++i) {
        expand(blocks[i], out + i * width);
    }
    return true;
}

template <typename Block> bool quantise_row(Type type, const float* in, void* row, int64_t n) noexcept {
    const int64_t width = traits(type).block;
    auto* blocks = static_cast<Block*>(row);
    for (int64_t i = 0; i < n / width; ++i) {
        quantise(in + i * width, blocks[i]);
    }
    return true;
}

template <typename Block> bool scale_row(Type type, float scale, void* row, int64_t n) noexcept {
    auto* blocks = static_cast<Block*>(row);
    for (int64_t i = 0; i < n / traits(type).block; ++i) {
        set_scale(blocks[i], float_to_half(scale));
    }
    return true;
}

} // namespace

bool row_to_float(Type type, const void* row, float* out, int64_t n) noexcept {
    const auto* halfs = static_cast<const uint16_t*>(row);
    switch (type) {
    case Type::F32: std::copy_n(static_cast<const float*>(row), n, out); return true;
    case Type::F16:
        for (int64_t i = 0; i < n; ++i) {
            out[i] = half_to_float(halfs[i]);
        }
        return true;
    case Type::BF16:
        for (int64_t i = 0; i < n; ++i) {
            out[i] = bf16_to_float(halfs[i]);
        }
        return true;
    case Type::Q4_0: return expand_row<BlockQ4_0>(type, row, out, n);
    case Type::Q4_1: return expand_row<BlockQ4_1>(type, row, out, n);
    case Type::Q5_0: return expand_row<BlockQ5_0>(type, row, out, n);
    case Type::Q5_1: return expand_row<BlockQ5_1>(type, row, out, n);
    case Type::Q8_0: return expand_row<BlockQ8_0>(type, row, out, n);
    case Type::Q2_K: return expand_row<BlockQ2_K>(type, row, out, n);
    case Type::Q3_K: return expand_row<BlockQ3_K>(type, row, out, n);
    case Type::Q4_K: return expand_row<BlockQ4_K>(type, row, out, n);
    case Type::Q5_K: return expand_row<BlockQ5_K>(type, row, out, n);
    case Type::Q6_K: return expand_row<BlockQ6_K>(type, row, out, n);
    case Type::IQ4_NL: return expand_row<BlockIQ4_NL>(type, row, out, n);
    case Type::IQ4_XS: return expand_row<BlockIQ4_XS>(type, row, out, n);
    case Type::MXFP4: return expand_row<BlockMXFP4>(type, row, out, n);
    case Type::TQ1_0: return expand_row<BlockTQ1_0>(type, row, out, n);
    case Type::TQ2_0: return expand_row<BlockTQ2_0>(type, row, out, n);
    case Type::IQ1_S: return expand_row<BlockIQ1_S>(type, row, out, n);
    case Type::IQ1_M: return expand_row<BlockIQ1_M>(type, row, out, n);
    case Type::IQ2_XXS: return expand_row<BlockIQ2_XXS>(type, row, out, n);
    case Type::IQ2_XS: return expand_row<BlockIQ2_XS>(type, row, out, n);
    case Type::IQ2_S: return expand_row<BlockIQ2_S>(type, row, out, n);
    case Type::IQ3_XXS: return expand_row<BlockIQ3_XXS>(type, row, out, n);
    case Type::IQ3_S: return expand_row<BlockIQ3_S>(type, row, out, n);
    default: return false;
    }
}

bool row_from_float(Type type, const float* in, void* row, int64_t n) noexcept {
    auto* halfs = static_cast<uint16_t*>(row);
    switch (type) {
    case Type::F32: std::copy_n(in, n, static_cast<float*>(row)); return true;
    case Type::F16:
        for (int64_t i = 0; i < n; ++i) {
            halfs[i] = float_to_half(in[i]);
        }
        return true;
    case Type::BF16:
        for (int64_t i = 0; i < n; ++i) {
            halfs[i] = float_to_bf16(in[i]);
        }
        return true;
    case Type::Q4_0: return quantise_row<BlockQ4_0>(type, in, row, n);
    case Type::Q4_1: return quantise_row<BlockQ4_1>(type, in, row, n);
    case Type::Q5_0: return quantise_row<BlockQ5_0>(type, in, row, n);
    case Type::Q5_1: return quantise_row<BlockQ5_1>(type, in, row, n);
    case Type::Q8_0: return quantise_row<BlockQ8_0>(type, in, row, n);
    case Type::Q2_K: return quantise_row<BlockQ2_K>(type, in, row, n);
    case Type::Q3_K: return quantise_row<BlockQ3_K>(type, in, row, n);
    case Type::Q4_K: return quantise_row<BlockQ4_K>(type, in, row, n);
    case Type::Q5_K: return quantise_row<BlockQ5_K>(type, in, row, n);
    case Type::Q6_K: return quantise_row<BlockQ6_K>(type, in, row, n);
    case Type::IQ4_NL: return quantise_row<BlockIQ4_NL>(type, in, row, n);
    case Type::IQ4_XS: return quantise_row<BlockIQ4_XS>(type, in, row, n);
    case Type::MXFP4: return quantise_row<BlockMXFP4>(type, in, row, n);
    case Type::TQ1_0: return quantise_row<BlockTQ1_0>(type, in, row, n);
    case Type::TQ2_0: return quantise_row<BlockTQ2_0>(type, in, row, n);
    default: return false;
    }
}

bool set_scales(Type type, float scale, void* row, int64_t n) noexcept {
    switch (type) {
    case Type::IQ1_S: return scale_row<BlockIQ1_S>(type, scale, row, n);
    case Type::IQ1_M: return scale_row<BlockIQ1_M>(type, scale, row, n);
    case Type::IQ2_XXS: return scale_row<BlockIQ2_XXS>(type, scale, row, n);
    case Type::IQ2_XS: return scale_row<BlockIQ2_XS>(type, scale, row, n);
    case Type::IQ2_S: return scale_row<BlockIQ2_S>(type, scale, row, n);
    case Type::IQ3_XXS: return scale_row<BlockIQ3_XXS>(type, scale, row, n);
    case Type::IQ3_S: return scale_row<BlockIQ3_S>(type, scale, row, n);
    default: return false;
    }
}

bool can_expand(Type type) noexcept { return row_to_float(type, nullptr, nullptr, 0); }

bool can_quantise(Type type) noexcept { return row_from_float(type, nullptr, nullptr, 0); }

} // namespace schedscope
