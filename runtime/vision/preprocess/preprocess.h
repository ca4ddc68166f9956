#pragma once

#include "runtime/vision/encoder_hparams.h"
#include "runtime/vision/image.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::vision {

/// What the encoder looks at at once: a part of a picture, which views share. Width and height are multiples of a patch.
struct ImageView {
    std::shared_ptr<const Image> picture;
    Size at; ///< its corner, from the left and from the top
    int32_t width = 0;
    int32_t height = 0;

    ImageView(std::shared_ptr<const Image> of, Size corner, Size size)
        : picture(std::move(of)), at(corner), width(size.width), height(size.height) {}
    explicit ImageView(Image whole) : width(whole.width), height(whole.height) {
        picture = std::make_shared<const Image>(std::move(whole));
    }
};

/// The view as the encoder reads it: (value / 255 − mean) / std at [(channel × height + y) × width + x]. Four times as large as
/// its pixels, so made when the encoder comes to it.
std::vector<float> planes_of(const ImageView& view, const EncoderHparams& h);

/// An image as the encoder takes it: the whole of it, and behind that the tiles, row by row, of a larger picture of it (none:
/// tiles is 0 × 0).
struct Views {
    Size image;   ///< pixels of the file
    Size refined; ///< pixels of the picture that the tiles were cut from; 0 × 0 without tiles
    Size tiles;   ///< across and down
    std::vector<ImageView> views;
};

/// By the kind of encoder: padded to a square (LLaVA 1.5), tiled at a pinpoint (LLaVA 1.6), or sliced (MiniCPM-V). Throws
/// Error(input) naming `name` when an image is too narrow for the encoder.
Views prepare(const Image& image, const EncoderHparams& h, const std::string& name);

/// LLaVA 1.5: centred on a square of the mean colour, scaled to image_size.
Views prepare_square(const Image& image, const EncoderHparams& h);

/// LLaVA 1.6: the whole image scaled to the square of image_size, its proportions lost; then tiles of the image scaled with its
/// proportions kept into the best pinpoint, centred on black.
Views prepare_tiles(const Image& image, const EncoderHparams& h);
/// Of the pinpoints the one where the scaled image covers most pixels (more than it has don't count); of several, where least is
/// left empty; of several, the first.
Size best_pinpoint(Size image, const std::vector<Size>& pinpoints);

/// MiniCPM-V: views keep the image's proportions, at about image_size² pixels each; an image of more pixels than that is also cut
/// into a grid of up to 9.
Views prepare_slices(const Image& image, const EncoderHparams& h, const std::string& name);

/// For people: "800 x 663 pixels, at 672 x 672, 5 images, 2880 tokens". n_rows: that the encoder makes of it.
std::string description(const Views& image, int32_t n_rows);

/// Cuts a picture into so many views of one size, row by row.
void add_tiles(Views& views, Image picture, Size tiles);

} // namespace schedscope::vision
