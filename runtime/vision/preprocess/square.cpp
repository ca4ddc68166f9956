#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/preprocess/resize.h"

#include <algorithm>

namespace schedscope::vision {

Views prepare_square(const Image& image, const EncoderHparams& h) {
    const int32_t side = std::max(image.width, image.height);
    Colour mean{};
    for (size_t c = 0; c < 3; ++c) {
        mean[c] = static_cast<uint8_t>(std::clamp(h.mean[c] * 255.0F, 0.0F, 255.0F)); // cut, not rounded, as the original does
    }
    const OnGround square{&image, side, side, (side - image.width) / 2, (side - image.height) / 2, mean};
    Views views;
    views.image = {image.width, image.height};
    views.views.emplace_back(resize(square, h.image_size, h.image_size));
    return views;
}

} // namespace schedscope::vision
