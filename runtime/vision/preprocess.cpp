#include "runtime/vision/preprocess.h"

namespace schedscope::vision {

Views prepare(const Image& image, const Hparams& h, const std::string& name) {
    if (h.minicpmv_version > 0) {
        return prepare_slices(image, h, name);
    }
    return h.pinpoints.empty() ? prepare_square(image, h) : prepare_tiles(image, h);
}

std::string description(const Views& image, int32_t n_rows) {
    const auto size = [](Size s) { return std::to_string(s.width) + " x " + std::to_string(s.height); };
    const size_t n = image.views.size();
    return size(image.image) + " pixels" + (n > 1 ? ", at " + size(image.refined) : "") + ", " + std::to_string(n) +
           (n == 1 ? " image, " : " images, ") + std::to_string(n_rows) + (n_rows == 1 ? " token" : " tokens");
}

View view_of(const Image& image, Size at, Size size, const Hparams& h) {
    View view{size.width, size.height,
              std::vector<float>(3 * static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
    float* out = view.planes.data();
    for (size_t c = 0; c < 3; ++c) {
        for (int32_t y = 0; y < size.height; ++y) {
            const uint8_t* in = image.pixel(at.width, at.height + y) + c;
            for (int32_t x = 0; x < size.width; ++x, in += 3) {
                *out++ = (static_cast<float>(*in) / 255.0F - h.mean[c]) / h.std[c];
            }
        }
    }
    return view;
}

} // namespace schedscope::vision
