// BMP, by stb_image, once all that it would read is known to be there. It goes on with zeros where a file ends, and with whatever
// lies on its stack where a palette has fewer colours than the pixels name.
#include "runtime/vision/decoders/bytes.h"
#include "runtime/vision/decoders/decoder.h"

#include <algorithm>
#include <cstdlib>

namespace schedscope::vision {

namespace {

constexpr const char* format = "BMP";

/// "BM", u32 size, u32 0, u32 where the pixels begin; then a header: u32 its length, i32 width, i32 height, u16 1, u16 bits of a
/// pixel, u32 compression, …; masks of the colours where the compression says so; a palette. OS/2 wrote a shorter one: u32 12,
/// u16 width, u16 height, u16 1, u16 bits of a pixel.
struct Bitmap {
    int64_t pixels_at = 0, header_bytes = 0;
    int64_t width = 0, height = 0;
    int64_t bits = 0, compression = 0;

    bool has_palette() const noexcept { return bits < 16; }
    int64_t n_colours() const noexcept { return (pixels_at - file_header_bytes - header_bytes) / 4; }
    int64_t used_row_bytes() const noexcept { return (width * bits + 7) / 8; }
    int64_t row_bytes() const noexcept { return (used_row_bytes() + 3) / 4 * 4; }

    static constexpr int64_t file_header_bytes = 14, os2_header_bytes = 12, usual_header_bytes = 40;
};

Bitmap read_header(std::span<const std::byte> file) {
    constexpr int64_t known[] = {Bitmap::os2_header_bytes, Bitmap::usual_header_bytes, 56, 108, 124};
    const auto need = [&](int64_t n) {
        if (std::ssize(file) < n) {
            damaged(format, "its header is not complete");
        }
    };
    need(Bitmap::file_header_bytes + Bitmap::os2_header_bytes);
    Bitmap b;
    b.pixels_at = lowest_first(file, 10, 4);
    b.header_bytes = lowest_first(file, 14, 4);
    if (std::find(std::begin(known), std::end(known), b.header_bytes) == std::end(known)) {
        unreadable(format, "its header has " + std::to_string(b.header_bytes) + " bytes");
    }
    need(Bitmap::file_header_bytes + b.header_bytes);
    if (b.header_bytes == Bitmap::os2_header_bytes) {
        b.width = lowest_first(file, 18, 2);
        b.height = lowest_first(file, 20, 2);
        b.bits = lowest_first(file, 24, 2);
        if (b.has_palette()) {
            unreadable(format, "it has a palette of OS/2"); // of which stb_image leaves out four colours
        }
        return b;
    }
    b.width = static_cast<int32_t>(lowest_first(file, 18, 4)); // a sign is in the highest bit
    b.height = std::abs(static_cast<int64_t>(static_cast<int32_t>(lowest_first(file, 22, 4))));
    b.bits = lowest_first(file, 28, 2);
    b.compression = lowest_first(file, 30, 4);
    return b;
}

void check_kind(const Bitmap& b) {
    constexpr int64_t plain = 0, masked = 3;
    constexpr int64_t known[] = {1, 4, 8, 16, 24, 32};
    if (std::find(std::begin(known), std::end(known), b.bits) == std::end(known)) {
        damaged(format, "a pixel has " + std::to_string(b.bits) + " bits");
    }
    if (b.compression != plain && (b.compression != masked || (b.bits != 16 && b.bits != 32))) {
        unreadable(format, "it is compressed");
    }
}

void check_places(const Bitmap& b, size_t file_bytes) {
    constexpr int64_t mask_bytes = 12;
    const bool masks_follow = b.compression != 0 && b.header_bytes == Bitmap::usual_header_bytes;
    const int64_t begin = Bitmap::file_header_bytes + b.header_bytes + (masks_follow ? mask_bytes : 0);
    if (b.pixels_at < begin || b.pixels_at > static_cast<int64_t>(file_bytes)) {
        damaged(format, "its header is not complete");
    }
    const int64_t last_row_at = b.pixels_at + b.row_bytes() * (b.height - 1); // what fills it up may be missing
    if (last_row_at + b.used_row_bytes() > static_cast<int64_t>(file_bytes)) {
        damaged(format, "the file ends too early");
    }
}

/// The number of a pixel's colour.
int colour_at(std::span<const std::byte> row, int64_t x, int64_t bits) {
    const int64_t bit = x * bits;
    return byte_at(row, bit / 8) >> (8 - bits - bit % 8) & ((1 << bits) - 1);
}

void check_colours(const Bitmap& b, std::span<const std::byte> file) {
    if (b.n_colours() < 1 || b.n_colours() > 256) {
        damaged(format, "its palette has " + std::to_string(b.n_colours()) + " colours");
    }
    if (b.n_colours() >= int64_t{1} << b.bits) {
        return;
    }
    for (int64_t y = 0; y < b.height; ++y) {
        const auto row = file.subspan(b.pixels_at + y * b.row_bytes(), b.used_row_bytes());
        for (int64_t x = 0; x < b.width; ++x) {
            if (colour_at(row, x, b.bits) >= b.n_colours()) {
                damaged(format, "its palette lacks a colour");
            }
        }
    }
}

} // namespace

Image decode_bmp(std::span<const std::byte> file) {
    const Bitmap b = read_header(file);
    check_size(b.width, b.height);
    check_kind(b);
    check_places(b, file.size());
    if (b.has_palette()) {
        check_colours(b, file);
    }
    check_memory(b.width * b.height * 3 * 2); // stb_image's pixels, and ours
    return decode_with_stb(file, format);
}

} // namespace schedscope::vision
