#pragma once

#include "runtime/vision/image.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace schedscope::vision {

/// What the first bytes of an image say, before anything is decoded.
struct ImageHeader {
    const char* format = nullptr; ///< "PNG", "JPEG", "WebP", "BMP", "GIF", "PNM"
    struct Pixels {
        int64_t width = 0, height = 0; ///< never negative
    };
    std::optional<Pixels> size; ///< nothing: it lies behind these bytes, or the header is damaged
    Image (*decode)(std::span<const std::byte> file) = nullptr;
};

/// Nothing for bytes that begin no image of these formats:
///
///   PNG   89 50 4e 47 0d 0a 1a 0a, then a chunk IHDR: u32 length, "IHDR", u32 width, u32 height, highest byte first
///   GIF   "GIF87a" or "GIF89a", u16 width, u16 height, lowest byte first
///   BMP   "BM"; at 14 the u32 length of the header behind: 12 means u16 width, u16 height, else i32 width, i32 height (negative:
///   rows from the top) JPEG  ff d8 ff; then segments of ff, a kind, u16 length; those of kind c0 to cf but c4, c8 and cc hold u8
///   precision, u16 height, u16 width WebP  "RIFF", u32 length, "WEBP", then a chunk "VP8X" (at 24 u24 width − 1, u24 height −
///   1), "VP8L" (at 21 u14 width − 1, u14 height − 1, from the lowest bit) or
///         "VP8 " (at 26 u16 width, u16 height, the two highest bits of each left out), all lowest byte first
///   PNM   see pnm.h
std::optional<ImageHeader> image_header(std::span<const std::byte> bytes);

/// The same. Throws Undecodable (decoder.h) for what begins no image, an empty one, or one that is too large.
ImageHeader check_header(std::span<const std::byte> beginning);
/// Throws Undecodable when no image's file is so large.
void check_file_size(int64_t bytes);

} // namespace schedscope::vision
