#include "runtime/vision/decoders/image_header.h"

#include "runtime/vision/decoders/bytes.h"
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/pnm.h"

#include <cstdlib>
#include <string_view>

namespace schedscope::vision {

namespace {

using HeaderBytes = std::span<const std::byte>;
using FoundPixels = std::optional<ImageHeader::Pixels>;

FoundPixels png_size(HeaderBytes bytes) {
    if (bytes.size() < 24 || !has_text(bytes, 12, "IHDR")) {
        return std::nullopt;
    }
    return ImageHeader::Pixels{highest_first(bytes, 16, 4), highest_first(bytes, 20, 4)};
}

FoundPixels gif_size(HeaderBytes bytes) {
    if (bytes.size() < 10) {
        return std::nullopt;
    }
    return ImageHeader::Pixels{lowest_first(bytes, 6, 2), lowest_first(bytes, 8, 2)};
}

FoundPixels bmp_size(HeaderBytes bytes) {
    constexpr int64_t oldest = 12;
    if (bytes.size() < 26) {
        return std::nullopt;
    }
    if (lowest_first(bytes, 14, 4) == oldest) {
        return ImageHeader::Pixels{lowest_first(bytes, 18, 2), lowest_first(bytes, 20, 2)};
    }
    const auto signed_number = [&](size_t at) {
        return std::abs(static_cast<int64_t>(static_cast<int32_t>(lowest_first(bytes, at, 4))));
    };
    return ImageHeader::Pixels{signed_number(18), signed_number(22)};
}

FoundPixels jpeg_size(HeaderBytes bytes) {
    const auto byte = [&](size_t at) { return byte_at(bytes, at); };
    for (size_t at = 2; at + 9 <= bytes.size() && byte(at) == 0xff;) {
        const int kind = byte(at + 1);
        if (kind == 0xff) { // filled up
            ++at;
            continue;
        }
        if (kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc) {
            return ImageHeader::Pixels{highest_first(bytes, at + 7, 2), highest_first(bytes, at + 5, 2)};
        }
        at += 2 + static_cast<size_t>(highest_first(bytes, at + 2, 2));
    }
    return std::nullopt;
}

FoundPixels webp_size(HeaderBytes bytes) {
    if (bytes.size() < 30) {
        return std::nullopt;
    }
    if (has_text(bytes, 12, "VP8X")) {
        return ImageHeader::Pixels{lowest_first(bytes, 24, 3) + 1, lowest_first(bytes, 27, 3) + 1};
    }
    if (has_text(bytes, 12, "VP8L")) {
        const int64_t sides = lowest_first(bytes, 21, 4);
        return ImageHeader::Pixels{(sides & 0x3fff) + 1, (sides >> 14 & 0x3fff) + 1};
    }
    return has_text(bytes, 12, "VP8 ") ? FoundPixels({lowest_first(bytes, 26, 2) & 0x3fff, lowest_first(bytes, 28, 2) & 0x3fff})
                                       : std::nullopt;
}

FoundPixels pnm_size(HeaderBytes bytes) {
    const auto header = pnm_header(bytes);
    return header->complete ? FoundPixels({header->width, header->height}) : std::nullopt;
}

bool is_webp(HeaderBytes bytes) { return has_text(bytes, 0, "RIFF") && has_text(bytes, 8, "WEBP"); }
bool is_pnm(HeaderBytes bytes) { return pnm_header(bytes).has_value(); }
template <const std::string_view& magic> bool begins(HeaderBytes bytes) { return has_text(bytes, 0, magic); }

constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n", jpeg_magic = "\xff\xd8\xff", bmp_magic = "BM", gif_magic = "GIF87a",
                           later_gif_magic = "GIF89a";

struct ImageFormat {
    const char* name;
    bool (*is)(HeaderBytes beginning);
    FoundPixels (*size)(HeaderBytes beginning);
    Image (*decode)(HeaderBytes file);
};
constexpr ImageFormat formats[] = {
    {"PNG", begins<png_magic>, png_size, decode_png},
    {"JPEG", begins<jpeg_magic>, jpeg_size, decode_jpeg},
    {"WebP", is_webp, webp_size, decode_webp},
    {"BMP", begins<bmp_magic>, bmp_size, decode_bmp},
    {"GIF", begins<gif_magic>, gif_size, decode_gif},
    {"GIF", begins<later_gif_magic>, gif_size, decode_gif},
    {"PNM", is_pnm, pnm_size, decode_pnm},
};

} // namespace

std::optional<ImageHeader> image_header(std::span<const std::byte> bytes) {
    for (const ImageFormat& f : formats) {
        if (f.is(bytes)) {
            return ImageHeader{f.name, f.size(bytes), f.decode};
        }
    }
    return std::nullopt;
}

} // namespace schedscope::vision
