// WebP, by libwebp.
#include "runtime/vision/decoders/decoder.h"

#include <new>
#include <webp/decode.h>

namespace schedscope::vision {

namespace {

/// Throws unless it went well.
void check(VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_OK: return;
    case VP8_STATUS_OUT_OF_MEMORY: throw std::bad_alloc();
    case VP8_STATUS_UNSUPPORTED_FEATURE: unreadable("WebP", "it has a feature that libwebp does not know");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: damaged("WebP", "the file ends too early");
    default: damaged("WebP", "its data makes no sense");
    }
}

} // namespace

Image decode_webp(std::span<const std::byte> file) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
    WebPDecoderConfig config{};
    if (WebPInitDecoderConfig(&config) == 0) {
        unreadable("WebP", "libwebp is of another version");
    }
    check(WebPGetFeatures(bytes, file.size(), &config.input));
    check_size(config.input.width, config.input.height);
    if (config.input.has_animation != 0) {
        unreadable("WebP", "it is an animation");
    }
    // A lossless one lies in memory as four bytes a pixel, too, and so does a lossless transparency beside its own plane.
    constexpr int64_t bytes_of_a_pixel = 3 + 4 + 1;
    check_memory(bytes_of_a_pixel * config.input.width * config.input.height);
    Image image(config.input.width, config.input.height);
    config.output.colorspace = MODE_RGB; // transparency is dropped, not blended
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = image.rgb.data();
    config.output.u.RGBA.stride = 3 * image.width;
    config.output.u.RGBA.size = image.rgb.size();
    check(WebPDecode(bytes, file.size(), &config));
    return image;
}

} // namespace schedscope::vision
