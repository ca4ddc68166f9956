// The decoders of stb_image, compiled once, and seen from here alone. They decode what is known to be sound: JPEGs that
// libjpeg-turbo has written again, and BMPs and GIFs that were walked over before. All else is left out.
#include "runtime/vision/decoders/decoder.h"

#include <cstring>
#include <memory>
#include <new>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS 65535
#include <stb/stb_image.h>

namespace schedscope::vision {

namespace {

struct FreePixels {
    void operator()(stbi_uc* p) const noexcept { stbi_image_free(p); }
};

} // namespace

Image decode_with_stb(std::span<const std::byte> file, const char* format) {
    int width = 0, height = 0, channels = 0;
    const std::unique_ptr<stbi_uc, FreePixels> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), file.size(), &width, &height, &channels, 3));
    if (pixels == nullptr) {
        const char* why = stbi_failure_reason();
        if (why != nullptr && std::strcmp(why, "Out of memory") == 0) {
            throw std::bad_alloc();
        }
        damaged(format, continued(why != nullptr && *why != '\0' ? why : "it can't be read"));
    }
    check_size(width, height);
    Image image(width, height);
    std::memcpy(image.rgb.data(), pixels.get(), image.rgb.size());
    return image;
}

} // namespace schedscope::vision
