#pragma once

#include "runtime/system/budget.h"
#include "runtime/system/program_role.h"

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Decodes PNG, JPEG, WebP, BMP, GIF (the first frame) and PNM (binary). What is finer than 8 bits is cut to 8, grey becomes three equal channels, transparency is
/// dropped; PNG, JPEG, BMP and GIF become the pixels that stb_image makes of them, with which llama.cpp feeds its encoders. Throws Error(input) "NAME: why" for what
/// is none of these, damaged, or beyond a bound of runtime/system/budget.h; the size is looked at before anything is decoded. Throws std::bad_alloc.
///
/// It works in this process: for bytes that somebody else made there is read_image.
Image decode_image(std::span<const std::byte> bytes, const std::string& name);

constexpr const char* decode_role = "--decode-child"; ///< of this program, when it is the child

/// The child in which a file is decoded.
struct ImageChild {
    std::vector<std::string> command = own_command(decode_role); ///< what it does: decode_child_main
    int64_t seconds = budget::image_seconds;                     ///< it is ended after this long
    std::function<bool()> cancelled;                             ///< asked every now and then; true ends it
};

/// The same of a file, decoded in a child process that can do nothing else: whatever is in the file does no more harm than that it can't be read. Throws Error(input)
/// also for a file that is missing, unreadable, no regular file, or that crashes the child or takes too much of its time or memory; Error(device) when no child can be
/// started; Interrupted. Of a file that is no image, or one too large, no more than the beginning is read.
Image read_image(const std::string& path, const ImageChild& child = {});

/// The child's work: a file comes on standard input and the image goes to standard output, or why there is none to standard error. Ends the process.
int decode_child_main(int argc, char** argv);

} // namespace schedscope::vision
