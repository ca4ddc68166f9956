#pragma once

#include "runtime/vision/encoder_hparams.h"

#include <cstdint>
#include <vector>

namespace schedscope::vision {

/// Which row of a square grid of learned positions belongs to each patch of a view of any proportions: as far across and down, in
/// parts of the whole. (NaViT's, as SigLIP in MiniCPM-V was trained.) grid: rows and columns of the grid.
std::vector<int32_t> positions_on_grid(Size patches, int32_t grid);

/// Sines and cosines of where each patch is, [patches][width]: a quarter of a row each sin x, cos x, sin y, cos y.
std::vector<float> position_waves(Size patches, int32_t width);

} // namespace schedscope::vision
