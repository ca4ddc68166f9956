#pragma once

#include "runtime/vision/encoder_hparams.h"

#include <cstdint>
#include <span>
#include <vector>

namespace schedscope::vision {

/// How the rows of an image's views become the rows that the text model reads.
struct Arrangement {
    int32_t rows_of_view = 0; ///< of each view
    Size tiles;               ///< 0 × 0: there is the whole image only
    Size grid;                ///< rows of a tile across and down; used with `unpad`
    bool unpad = false;       ///< the tiles' rows in the order of the picture; else tile after tile
    bool newline = false;     ///< with unpad: the padding's rows are left out and `newline` ends each row of the picture, as the
                              ///< original LLaVA does
    Size image;               ///< pixels; with newline

    int32_t n_rows() const; ///< that come out
};

/// views: [views][rows_of_view][width], the whole image first. newline: [width] (empty unless arrangement.newline). Returns
/// [n_rows][width].
std::vector<float> arrange(const Arrangement& arrangement, std::span<const float> views, std::span<const float> newline,
                           size_t width);

} // namespace schedscope::vision
