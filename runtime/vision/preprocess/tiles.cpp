#include "runtime/numbers.h"
#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/preprocess/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace schedscope::vision {

namespace {

/// How large the image is when it just fits: one side is the target's, the other rounded up.
Size fitted(Size image, Size target) {
    const double across = to_double(target.width) / image.width;
    const double down = to_double(target.height) / image.height;
    if (across < down) {
        return {target.width, std::min(static_cast<int32_t>(std::ceil(image.height * across)), target.height)};
    }
    return {std::min(static_cast<int32_t>(std::ceil(image.width * down)), target.width), target.height};
}

Image centred_on_black(const Image& image, Size size) {
    Image out(size.width, size.height); // zeros
    const int32_t left = (size.width - image.width) / 2, top = (size.height - image.height) / 2;
    for (int32_t y = 0; y < image.height; ++y) {
        std::memcpy(out.pixel(left, top + y), image.pixel(0, y), static_cast<size_t>(image.width) * 3);
    }
    return out;
}

} // namespace

Size best_pinpoint(Size image, const std::vector<Size>& pinpoints) {
    Size best;
    int64_t most = -1, least_waste = 0;
    const int64_t own = int64_t{image.width} * image.height;
    for (const Size& p : pinpoints) {
        const double scale = std::min(to_double(p.width) / image.width, to_double(p.height) / image.height);
        const auto covered = static_cast<int64_t>(image.width * scale) * static_cast<int64_t>(image.height * scale);
        const int64_t effective = std::min(covered, own);
        const int64_t waste = int64_t{p.width} * p.height - effective;
        if (effective > most || (effective == most && waste < least_waste)) {
            best = p;
            most = effective;
            least_waste = waste;
        }
    }
    return best;
}

Views prepare_tiles(const Image& image, const EncoderHparams& h) {
    Views views;
    views.image = {image.width, image.height};
    views.refined = best_pinpoint(views.image, h.pinpoints);
    views.tiles = {views.refined.width / h.image_size, views.refined.height / h.image_size};
    views.views.emplace_back(resize(image, h.image_size, h.image_size));
    const Size inner = fitted(views.image, views.refined);
    add_tiles(views, centred_on_black(resize(image, inner.width, inner.height), views.refined), views.tiles);
    return views;
}

} // namespace schedscope::vision
