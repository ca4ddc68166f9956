#pragma once

#include "runtime/vision/hparams.h"
#include "runtime/vision/image.h"

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope::vision {

/// What the encoder looks at at once: (value / 255 − mean) / std, planes[(channel × height + y) × width + x]; width and height are multiples of a patch.
struct View {
    int32_t width = 0;
    int32_t height = 0;
    std::vector<float> planes;
};

/// An image as the encoder takes it: the whole of it, and behind that the tiles, row by row, of a larger picture of it (none: tiles is 0 × 0).
struct Views {
    Size image;   ///< pixels of the file
    Size refined; ///< pixels of the picture that the tiles were cut from; 0 × 0 without tiles
    Size tiles;   ///< across and down
    std::vector<View> views;
};

/// By the kind of encoder: padded to a square (LLaVA 1.5), tiled at a pinpoint (LLaVA 1.6), or sliced (MiniCPM-V). Throws Error(input) naming `name` when an
/// image is too narrow for the encoder.
Views prepare(const Image& image, const Hparams& h, const std::string& name);

/// LLaVA 1.5: centred on a square of the mean colour, scaled to image_size.
Views prepare_square(const Image& image, const Hparams& h);

/// LLaVA 1.6: the whole image scaled to the square of image_size, its proportions lost; then tiles of the image scaled with its proportions kept into the best
/// pinpoint, centred on black.
Views prepare_tiles(const Image& image, const Hparams& h);
/// Of the pinpoints the one where the scaled image covers most pixels (more than it has don't count); of several, where least is left empty; of several, the first.
Size best_pinpoint(Size image, const std::vector<Size>& pinpoints);

/// MiniCPM-V: views keep the image's proportions, at about image_size² pixels each; an image of more pixels than that is also cut into a grid of up to 9.
Views prepare_slices(const Image& image, const Hparams& h, const std::string& name);

/// For people: "800 x 663 pixels, at 672 x 672, 5 images, 2880 tokens". n_rows: that the encoder makes of it.
std::string description(const Views& image, int32_t n_rows);

/// One view of a part of an image.
View view_of(const Image& image, Size at, Size size, const Hparams& h);
inline View view_of(const Image& image, const Hparams& h) { return view_of(image, {0, 0}, {image.width, image.height}, h); }

} // namespace schedscope::vision
