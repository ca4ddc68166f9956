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
    Image(int32_t w, int32_t h) : width(w), height(h), rgb(static_cast<size_t>(w) * static_cast<size_t>(h) * 3) {}
    const uint8_t* pixel(int32_t x, int32_t y) const noexcept {
        return rgb.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3;
    }
    uint8_t* pixel(int32_t x, int32_t y) noexcept {
        return rgb.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3;
    }
};

constexpr int64_t most_image_bytes = int64_t{512} << 20U; ///< of a file: as many as the largest image has pixels' bytes

/// Decodes PNG, JPEG, BMP, GIF (the first frame) and PNM (binary). What is finer than 8 bits is cut to 8, grey becomes three equal channels, transparency is
/// dropped. Throws Error(input) "NAME: why" for what is none of these, broken, or larger than 65,535 on a side or 178,956,970 pixels; the size is looked at
/// before anything is decoded.
Image decode_image(std::span<const std::byte> bytes, const std::string& name);

/// The same of a file. Throws Error(input) also for a file that is missing, unreadable, no regular file, or larger than most_image_bytes. Of a file that is no
/// image, or one too large, no more than the beginning is read.
Image read_image(const std::string& path);

} // namespace schedscope::vision
