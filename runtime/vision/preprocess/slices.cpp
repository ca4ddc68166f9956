#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/preprocess/resize.h"

#include <algorithm>
#include <cmath>
#include <string>

// As the original's slice_image; its numbers are Python's, which rounds halves to even.

namespace schedscope::vision {

namespace {

constexpr int32_t most_slices = 9;

/// The multiple of `unit` next to a length, at least one.
int32_t whole(double length, int32_t unit) { return std::max(static_cast<int32_t>(std::nearbyint(length / unit)) * unit, unit); }

/// A size of the same proportions with about side² pixels (an image of fewer stays, unless `grows`), in whole patches.
Size near_square_of(double width, double height, const EncoderHparams& h, bool grows) {
    const double side = h.image_size;
    if (width * height > side * side || grows) {
        const double ratio = width / height;
        height = std::trunc(side / std::sqrt(ratio));
        width = std::trunc(height * ratio);
    }
    return {whole(width, h.patch_size), whole(height, h.patch_size)};
}

/// How many slices across and down: of all grids with n − 1, n or n + 1 slices the one whose proportions are nearest to the
/// image's.
Size best_grid(Size image, int32_t n) {
    const double wanted = std::log(to_double(image.width) / image.height);
    Size best{1, 1};
    double least = INFINITY;
    for (const int32_t slices : {n - 1, n, n + 1}) {
        if (slices == 1 || slices > most_slices) {
            continue;
        }
        for (int32_t across = 1; across <= slices; ++across) {
            if (slices % across != 0) {
                continue;
            }
            const Size grid{across, slices / across};
            const double error = std::abs(wanted - std::log(to_double(grid.width) / grid.height));
            if (error < least) {
                best = grid;
                least = error;
            }
        }
    }
    return best;
}

/// A view of an image that is a thousand times as long as wide would be one row of thousands of patches.
void check_length(Size size, const EncoderHparams& h, const Image& image, const std::string& name) {
    constexpr int32_t longest = 1024;
    if (std::max(size.width, size.height) / h.patch_size > longest) {
        throw Error(ErrorKind::input, name + ": an image of " + std::to_string(image.width) + " x " +
                                          std::to_string(image.height) + " pixels is too narrow for this encoder");
    }
}

} // namespace

Views prepare_slices(const Image& image, const EncoderHparams& h, const std::string& name) {
    Views views;
    views.image = {image.width, image.height};
    const double pixels = to_double(image.width) * image.height;
    const auto n =
        static_cast<int32_t>(std::min(std::ceil(pixels / (to_double(h.image_size) * h.image_size)), to_double(most_slices)));
    const Size overview = near_square_of(image.width, image.height, h, n <= 1);
    check_length(overview, h, image, name);
    views.views.emplace_back(resize(image, overview.width, overview.height));
    if (n <= 1) {
        return views;
    }
    const Size grid = best_grid(views.image, n);
    const Size slice = near_square_of(to_double(whole(image.width, grid.width)) / grid.width,
                                      to_double(whole(image.height, grid.height)) / grid.height, h, true);
    check_length(slice, h, image, name);
    views.tiles = grid;
    views.refined = {slice.width * grid.width, slice.height * grid.height};
    add_tiles(views, resize(image, views.refined.width, views.refined.height), grid);
    return views;
}

} // namespace schedscope::vision
