#pragma once

#include "runtime/vision/image.h"

#include <array>

namespace schedscope::vision {

using Colour = std::array<uint8_t, 3>;

/// An image that lies on a larger ground of one colour, without the ground's memory: a strip of 1 × 20,000 padded to a square
/// would be 1.2 GB.
struct OnGround {
    const Image* image = nullptr;
    int32_t width = 0, height = 0; ///< of the ground
    int32_t left = 0, top = 0;     ///< where the image begins on it
    Colour colour{};
};

/// Scales to width × height by Catmull-Rom (the cubic with a = −0.5), widened when shrinking so that every pixel counts. Value
/// for value what Pillow's Image.resize(…, BICUBIC) gives, with which the models were trained: across first, then down, rounded
/// to 8 bits after each.
Image resize(const OnGround& from, int32_t width, int32_t height);
Image resize(const Image& from, int32_t width, int32_t height);

} // namespace schedscope::vision
