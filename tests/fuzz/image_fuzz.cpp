// Images of every format that is read, in this process. An input is the file. PNG keeps a sum of each of its chunks, which no
// mutation gets right, and nothing behind a wrong one is looked at: the sums are put right. Of images that claim more than a
// million pixels one in 64 is decoded, by chance (a sum of the file): clearing their memory takes a thousand times as long as
// anything else. What is decoded has the size that its header claims, and takes no more memory than an image may.

#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/image_header.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <zlib.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size); // NOLINT

namespace {

using namespace schedscope::vision;

/// Rights the sum of each chunk that lies in the file as a whole.
void right_png_sums(uint8_t* data, size_t size) {
    constexpr std::string_view magic = "\x89PNG\r\n\x1a\n";
    if (size < magic.size() || std::memcmp(data, magic.data(), magic.size()) != 0) {
        return;
    }
    for (size_t at = magic.size(); size - at >= 12;) {
        const size_t length = size_t{data[at]} << 24U | size_t{data[at + 1]} << 16U | size_t{data[at + 2]} << 8U | data[at + 3];
        if (length > size - at - 12) {
            return;
        }
        const auto sum = static_cast<uint32_t>(crc32(0, data + at + 4, static_cast<uInt>(length + 4)));
        uint8_t* to = data + at + 8 + length;
        for (int shift = 24; shift >= 0; shift -= 8) {
            *to++ = static_cast<uint8_t>(sum >> static_cast<unsigned>(shift));
        }
        at += 12 + length;
    }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 16 != 0) {
        right_png_sums(data, size);
    }
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = std::as_bytes(std::span(data, size));
    const auto header = image_header(file);
    constexpr double many_pixels = 1 << 20;
    if (header && header->size &&
        static_cast<double>(header->size->width) * static_cast<double>(header->size->height) > many_pixels &&
        crc32(0, data, static_cast<uInt>(size)) % 64 != 0) {
        return 0;
    }
    try {
        const Image image = decode_any(file);
        if (image.rgb.size() != size_t{3} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height)) {
            std::fprintf(stderr, "%d x %d pixels in %zu bytes\n", image.width, image.height, image.rgb.size());
            std::abort();
        }
        if (header && header->size && (header->size->width != image.width || header->size->height != image.height)) {
            std::fprintf(stderr, "%s claims another size than %d x %d\n", header->format, image.width, image.height);
            std::abort();
        }
    } catch (const Undecodable& why) {
        if (std::string_view(why.what()).size() > 300 || std::strchr(why.what(), '\n') != nullptr) {
            std::fprintf(stderr, "not one short line: %s\n", why.what());
            std::abort();
        }
    }
    return 0;
}
