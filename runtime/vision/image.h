#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// Decodes PNG, JPEG, WebP, BMP, GIF (the first frame) and PNM (binary). What is finer than 8 bits is cut to 8, grey becomes
/// three equal channels, transparency is dropped; PNG, JPEG, BMP and GIF become the pixels that stb_image makes of them, with
/// which llama.cpp feeds its encoders. Throws Error(input) "NAME: why" for what is none of these, damaged, or beyond a bound of
/// runtime/system/budget.h; the size is looked at before anything is decoded. Throws std::bad_alloc.
///
/// It works in this process: for bytes that another program made there is read_image.
Image decode_image(std::span<const std::byte> bytes, const std::string& name);

} // namespace schedscope::vision
