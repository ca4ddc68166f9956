#include "runtime/vision/image_header.h"

#include "runtime/vision/pnm.h"

#include <cstdlib>
#include <string_view>

namespace schedscope::vision {

namespace {

using Bytes = std::span<const std::byte>;
using Pixels = std::optional<ImageHeader::Pixels>;

bool begins(Bytes bytes, std::string_view magic) {
    return bytes.size() >= magic.size() && std::string_view(reinterpret_cast<const char*>(bytes.data()), magic.size()) == magic;
}

/// Numbers of n bytes; all of them must be there.
int64_t highest_first(Bytes bytes, size_t at, size_t n) {
    int64_t value = 0;
    for (size_t i = 0; i < n; ++i) {
        value = value << 8 | static_cast<int64_t>(bytes[at + i]);
    }
    return value;
}
int64_t lowest_first(Bytes bytes, size_t at, size_t n) {
    int64_t value = 0;
    for (size_t i = n; i-- > 0;) {
        value = value << 8 | static_cast<int64_t>(bytes[at + i]);
    }
    return value;
}

Pixels png_size(Bytes bytes) {
    if (bytes.size() < 24 || !begins(bytes.subspan(12), "IHDR")) {
        return std::nullopt;
    }
    return ImageHeader::Pixels{highest_first(bytes, 16, 4), highest_first(bytes, 20, 4)};
}

Pixels gif_size(Bytes bytes) {
    if (bytes.size() < 10) {
        return std::nullopt;
    }
    return ImageHeader::Pixels{lowest_first(bytes, 6, 2), lowest_first(bytes, 8, 2)};
}

Pixels bmp_size(Bytes bytes) {
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

Pixels jpeg_size(Bytes bytes) {
    const auto byte = [&](size_t at) { return static_cast<int>(bytes[at]); };
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

Pixels pnm_size(Bytes bytes) {
    const auto header = pnm_header(bytes);
    return header->complete ? Pixels({header->width, header->height}) : std::nullopt;
}

struct Format {
    const char* name;
    std::string_view magic;
    Pixels (*size)(Bytes bytes);
};
constexpr Format formats[] = {
    {"PNG", "\x89PNG\r\n\x1a\n", png_size}, {"GIF", "GIF87a", gif_size}, {"GIF", "GIF89a", gif_size}, {"BMP", "BM", bmp_size},
    {"JPEG", "\xff\xd8\xff", jpeg_size},
};

} // namespace

std::optional<ImageHeader> image_header(std::span<const std::byte> bytes) {
    for (const Format& f : formats) {
        if (begins(bytes, f.magic)) {
            return ImageHeader{f.name, f.size(bytes)};
        }
    }
    return pnm_header(bytes) ? std::optional<ImageHeader>({"PNM", pnm_size(bytes)}) : std::nullopt;
}

} // namespace schedscope::vision
