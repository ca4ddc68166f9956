#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedscope::vision {

/// A picture of 8-bit red, green, blue: rgb[(y × width + x) × 3 + channel]. Row 0 is at the top.
struct Image {
    int32_t width = 0;
    int32_t height = 0;
    std::vector<uint8_t> rgb;

    Image() = default;
    Image(int32_t w, int32_t h) : width(w), height(h), rgb(w * static_cast<size_t>(h) * 3) {}
    const uint8_t* pixel(int32_t x, int32_t y) const noexcept { return rgb.data() + (y * width + x) * 3; }
    uint8_t* pixel(int32_t x, int32_t y) noexcept { return rgb.data() + (y * width + x) * 3; }
};

} // namespace schedscope::vision
