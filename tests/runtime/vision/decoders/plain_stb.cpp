#include "tests/runtime/vision/decoders/plain_stb.h"

#include <cstring>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace schedscope::test {

vision::Image plain_stb(const std::string& file) {
    int width = 0, height = 0, channels = 0;
    stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), static_cast<int>(file.size()), &width,
                                            &height, &channels, 3);
    if (pixels == nullptr) {
        return {};
    }
    vision::Image image(width, height);
    std::memcpy(image.rgb.data(), pixels, image.rgb.size());
    stbi_image_free(pixels);
    return image;
}

} // namespace schedscope::test
