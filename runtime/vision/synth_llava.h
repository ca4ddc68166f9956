#pragma once

#include "runtime/ops/type.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::vision {

/// Sizes of a made-up image encoder.
struct EncoderShape {
    std::string_view projector = "mlp"; ///< one of the projectors' names
    int32_t image_size = 56;
    int32_t patch_size = 14;
    int32_t n_embd = 32;
    int32_t n_ff = 64;
    int32_t n_head = 4;
    int32_t n_layer = 3;
    int32_t n_embd_text = 64;     ///< width of the text model
    bool tiled = false;           ///< pinpoints of one to three tiles and an end of rows, as LLaVA 1.6 has them
    int32_t minicpmv_version = 0; ///< with the resampler: 2 or 3
    int32_t n_queries = 0;        ///< of the resampler
};

struct EncoderPreset {
    std::string_view name;
    std::string_view description;
    EncoderShape shape;
};

/// "tiny" (for the text model "tiny" of synth llama), "tiny-1.6", and the real ones: "1.5-7b", "1.5-13b", "1.6-7b", "yi-vl-6b",
/// "mobilevlm-1.7b", "mobilevlm-v2-1.7b", "minicpm-v-2.5", "minicpm-v-2.6".
std::span<const EncoderPreset> encoder_presets() noexcept;
/// Throws Error(usage) naming the presets when there is none of that name.
const EncoderShape& encoder_preset(std::string_view name);

/// A `--mmproj` file with random weights, the same on every machine for the same arguments. Matrices are of `type`, convolutions
/// and positions F16 (with F32: F32), norms and biases F32. Returns what the caller should be told, a sentence; empty: nothing.
/// Throws Error(usage) for a type that is impossible, Error(device) when the file can't be written.
std::string synthesise_encoder(const EncoderShape& shape, Type type, uint64_t seed, const std::string& path);
/// Bytes of that file.
int64_t synthesised_encoder_bytes(const EncoderShape& shape, Type type);
/// The header alone, with as much room behind it as the weights would take: for plans without weights.
std::string synthesise_encoder_header(const EncoderShape& shape, Type type, const std::string& path);

} // namespace schedscope::vision
