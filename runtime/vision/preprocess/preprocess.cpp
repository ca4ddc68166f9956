#include "runtime/vision/preprocess/preprocess.h"

#include "runtime/system/number_words.h"

namespace schedscope::vision {

Views prepare(const Image& image, const EncoderHparams& h, const std::string& name) {
    if (h.minicpmv_version > 0) {
        return prepare_slices(image, h, name);
    }
    return h.pinpoints.empty() ? prepare_square(image, h) : prepare_tiles(image, h);
}

std::string description(const Views& image, int32_t n_rows) {
    const auto size = [](Size s) { return std::to_string(s.width) + " x " + std::to_string(s.height); };
    const size_t n = image.views.size();
    return size(image.image) + " pixels" + (n > 1 ? ", at " + size(image.refined) : "") + ", " + words::counted(n, "image") +
           ", " + words::counted(n_rows, "token");
}

std::vector<float> planes_of(const ImageView& view, const EncoderHparams& h) {
    std::vector<float> planes(3 * static_cast<size_t>(view.width) * view.height);
    float* out = planes.data();
    for (size_t c = 0; c < 3; ++c) {
        for (int32_t y = 0; y < view.height; ++y) {
            const uint8_t* in = view.picture->pixel(view.at.width, view.at.height + y) + c;
            for (int32_t x = 0; x < view.width; ++x, in += 3) {
                *out++ = (*in / 255.0F - h.mean[c]) / h.std[c];
            }
        }
    }
    return planes;
}

void add_tiles(Views& views, Image picture, Size tiles) {
    const Size size{picture.width / tiles.width, picture.height / tiles.height};
    const auto shared = std::make_shared<const Image>(std::move(picture));
    for (int32_t y = 0; y < tiles.height; ++y) {
        for (int32_t x = 0; x < tiles.width; ++x) {
            views.views.emplace_back(shared, Size{x * size.width, y * size.height}, size);
        }
    }
}

} // namespace schedscope::vision
