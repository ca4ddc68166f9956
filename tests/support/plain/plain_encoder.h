#pragma once

#include "runtime/gguf/gguf.h"
#include "tests/support/plain/plain_model.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Image encoders small enough to be computed twice: by the runtime from a file, and from the published descriptions in plain
/// double precision. No code of the runtime's is shared.
namespace schedscope::test {

struct PlainEncoder {
    std::string projector = "mlp"; ///< as the file's key says it
    int image_size = 28, patch_size = 7, n_embd = 32, n_ff = 48, n_head = 4, n_layer = 2;
    double eps = 1e-5;
    std::string activation = "quick"; ///< "quick", or "gelu" (clip.use_gelu)
    int minicpmv_version = 0;
    std::array<double, 3> mean{0.48, 0.46, 0.41}, std{0.27, 0.26, 0.28};
    std::vector<int> feature_layers; ///< empty: not in the file
    std::vector<int> pinpoints;      ///< width, height, …
    std::string merge_type;          ///< empty: not in the file
    bool swapped_names = false;      ///< ffn_down and ffn_up in the files of LLaVA's converters
    std::map<std::string, PlainTensor> tensors;

    std::shared_ptr<gguf::File> file(Type kernels = Type::F32) const;
    void write(const std::string& path) const;
    /// Reads sizes and F32 tensors.
    static PlainEncoder from(const gguf::File& file);
    int n_embd_text() const;
};

/// A random one: "mlp", "mlp-linear" (one layer), "mlp-gelu", "mlp-features" (two hidden states), "mlp-siglip" (no class, biases
/// on patches), "mlp-swapped", "mlp_norm", "ldp", "ldpv2", "resampler"; "mlp-large" and "ldp-large", of 13 × 13 patches.
PlainEncoder random_encoder(const std::string& kind, uint32_t seed, int n_embd_text = 64);

/// Rows for a view of width × height pixels, planes[channel][y][x] already normalised.
std::vector<double> plain_rows(const PlainEncoder& encoder, const std::vector<float>& planes, int width, int height);

} // namespace schedscope::test
