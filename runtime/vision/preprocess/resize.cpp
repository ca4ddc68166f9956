#include "runtime/vision/preprocess/resize.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>

namespace schedscope::vision {

namespace {

// Weights are whole numbers of 2⁻²²: 8 bits of a pixel and 2 of headroom (a cubic's weights add up to more than 1 in magnitude)
// are left of 32.
constexpr int weight_bits = 32 - 8 - 2;
constexpr int32_t half = 1 << (weight_bits - 1);

/// Catmull-Rom: 1 at 0, 0 at 1 and 2.
double cubic(double x) noexcept {
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1) {
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// What one value of the result is made of, along one axis: the part of the source that holds the image, and what the ground adds
/// to each channel.
struct Taps {
    int32_t first = 0; ///< in the image
    std::vector<int32_t> weights;
    std::array<int32_t, 3> start{}; ///< rounding, and the ground
};

/// As Pillow rounds; for what is below zero, towards it.
int32_t rounded_up_from_half(double x) {
    return static_cast<int32_t>(x + 0.5); // NOLINT(bugprone-incorrect-roundings): the pixels are to be Pillow's
}

/// The taps of n results over a ground of `size`, on which the image covers [begin, begin + length).
std::vector<Taps> taps_of(int32_t n, int32_t size, int32_t begin, int32_t length, const Colour& colour) {
    const double scale = to_double(size) / n;
    const double stretch = std::max(scale, 1.0);
    const double support = 2.0 * stretch;
    std::vector<Taps> all(n);
    std::vector<double> weights;
    for (int32_t i = 0; i < n; ++i) {
        const double centre = (i + 0.5) * scale;
        const int32_t low = std::max(rounded_up_from_half(centre - support), 0);
        const int32_t high = std::min(rounded_up_from_half(centre + support), size);
        weights.clear();
        double sum = 0;
        for (int32_t at = low; at < high; ++at) {
            weights.push_back(cubic((at - centre + 0.5) * (1.0 / stretch)));
            sum += weights.back();
        }
        Taps& taps = all[i];
        taps.first = std::max(low, begin) - begin;
        int32_t outside = 0;
        for (int32_t at = low; at < high; ++at) {
            double w = weights[at - low];
            w = (sum != 0 ? w / sum : w) * (1 << weight_bits);
            const auto fixed = static_cast<int32_t>(w < 0 ? w - 0.5 : w + 0.5);
            if (at >= begin && at < begin + length) {
                taps.weights.push_back(fixed);
            } else {
                outside += fixed;
            }
        }
        for (size_t c = 0; c < 3; ++c) {
            taps.start[c] = half + outside * colour[c];
        }
    }
    return all;
}

/// Adds up `taps` over pixels that lie `step` bytes apart.
void blend(const Taps& taps, const uint8_t* first, size_t step, uint8_t* out) noexcept {
    std::array<int32_t, 3> sum = taps.start;
    for (const int32_t weight : taps.weights) {
        for (size_t c = 0; c < 3; ++c) {
            sum[c] += weight * first[c];
        }
        first += step;
    }
    for (size_t c = 0; c < 3; ++c) {
        out[c] = static_cast<uint8_t>(std::clamp(sum[c] >> weight_bits, 0, 255));
    }
}

} // namespace

Image resize(const OnGround& from, int32_t width, int32_t height) {
    const Image& image = *from.image;
    const auto across = taps_of(width, from.width, from.left, image.width, from.colour);
    const auto down = taps_of(height, from.height, from.top, image.height, from.colour);
    // Rows that are all ground stay that colour, so only the image's rows are scaled across.
    Image rows(width, image.height);
    for (int32_t y = 0; y < image.height; ++y) {
        for (int32_t x = 0; x < width; ++x) {
            const Taps& taps = across[x];
            blend(taps, taps.weights.empty() ? nullptr : image.pixel(taps.first, y), 3, rows.pixel(x, y));
        }
    }
    Image result(width, height);
    const size_t row = static_cast<size_t>(width) * 3;
    for (int32_t y = 0; y < height; ++y) {
        const Taps& taps = down[y];
        for (int32_t x = 0; x < width; ++x) {
            blend(taps, taps.weights.empty() ? nullptr : rows.pixel(x, taps.first), row, result.pixel(x, y));
        }
    }
    return result;
}

Image resize(const Image& from, int32_t width, int32_t height) {
    return resize({&from, from.width, from.height, 0, 0, {}}, width, height);
}

} // namespace schedscope::vision
