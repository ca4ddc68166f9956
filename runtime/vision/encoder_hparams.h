#pragma once

#include "runtime/ops/op.h"

#include <array>
#include <cstdint>
#include <vector>

namespace schedscope {
namespace gguf {
class File;
}
namespace vision {

struct Size {
    int32_t width = 0, height = 0;
    bool operator==(const Size&) const = default;
};

/// The sizes and constants of an image encoder, from the keys `clip.…` of its file. All sizes are positive and fit together.
struct EncoderHparams {
    int32_t image_size = 0; ///< of a square view, in pixels
    int32_t patch_size = 0;
    int32_t n_embd = 0; ///< width of the encoder
    int32_t n_ff = 0;
    int32_t n_head = 0;
    int32_t n_layer = 0; ///< stored blocks
    float norm_eps = 0;
    std::array<float, 3> mean{}, std{}; ///< of red, green, blue between 0 and 1
    UnaryOp activation = UnaryOp::GELU_QUICK;
    /// Which hidden states are the result, side by side: 0 is what goes into the first block, n what comes out of block n − 1.
    /// Never empty.
    std::vector<int32_t> feature_layers;
    std::vector<Size> pinpoints;  ///< resolutions that an image may be tiled at (LLaVA 1.6); empty: it is padded to one square
    bool unpad = false;           ///< tiles make one picture, row by row of patches (spatial_unpad); else they follow one another
    int32_t minicpmv_version = 0; ///< 2: MiniCPM-V 2.5, 3: 2.6; 0: no MiniCPM-V

    int32_t patches_per_side() const noexcept { return image_size / patch_size; }
};

/// Throws Error(input) naming file and key for what is missing or impossible, and for a file that is no image encoder.
EncoderHparams read_hparams(const gguf::File& file);

} // namespace vision
} // namespace schedscope
