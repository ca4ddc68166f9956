#pragma once

#include "runtime/vision/image.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

/// One function for each format, on the whole file. None keeps anything between calls; what they take is bounded by
/// runtime/system/budget.h before it is taken.
namespace schedscope::vision {

/// Bytes that become no image. `what()` goes on where a sentence has named the file: "the image (PNG) is damaged: the file ends
/// too early".
class Undecodable : public std::exception {
public:
    explicit Undecodable(std::string why) : why_(std::move(why)) {}
    const char* what() const noexcept override { return why_.c_str(); }

private:
    std::string why_;
};

/// It is not what its format asks for.
[[noreturn]] void damaged(const char* format, const std::string& why);
/// It may be sound, and is of a kind that is not decoded here.
[[noreturn]] void unreadable(const char* format, const std::string& why);
/// A library's sentence as the end of ours: it begins small.
std::string continued(std::string sentence);

/// Throws Undecodable unless there are pixels, and not too many of them. A small file can claim, and be unpacked to, very much.
void check_size(int64_t width, int64_t height);
/// Throws Undecodable when decoding would take more memory than it may.
void check_memory(int64_t bytes);
[[noreturn]] void takes_too_much_memory();

Image decode_png(std::span<const std::byte> file);
Image decode_jpeg(std::span<const std::byte> file);
Image decode_webp(std::span<const std::byte> file);
Image decode_bmp(std::span<const std::byte> file);
Image decode_gif(std::span<const std::byte> file);
Image decode_pnm(std::span<const std::byte> file);

/// Whatever of these it is, with what stb_image says when it can't. For what was found sound, or made, by us.
Image decode_with_stb(std::span<const std::byte> file, const char* format);

/// PNG, JPEG, WebP, BMP, GIF (the first frame) and PNM (binary). What is finer than 8 bits is cut to 8, grey becomes three equal
/// channels, transparency is dropped; PNG, JPEG, BMP and GIF become the pixels that stb_image makes of them, with which llama.cpp
/// feeds its encoders. The size is looked at before anything is decoded. Throws Undecodable for what is none of these, damaged,
/// or beyond a bound, and std::bad_alloc where memory ran out before the bound.
///
/// It works in this process: for bytes that another program made there is read_image.
Image decode_any(std::span<const std::byte> file);

} // namespace schedscope::vision
