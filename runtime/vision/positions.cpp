#include "runtime/vision/positions.h"

#include "runtime/numbers.h"

#include <cmath>

namespace schedscope::vision {

std::vector<int32_t> positions_on_grid(Size patches, int32_t grid) {
    std::vector<int32_t> positions;
    for (int64_t y = 0; y < patches.height; ++y) {
        for (int64_t x = 0; x < patches.width; ++x) {
            positions.push_back(int_of(y * grid / patches.height * grid + x * grid / patches.width));
        }
    }
    return positions;
}

std::vector<float> position_waves(Size patches, int32_t width) {
    const int32_t quarter = width / 4;
    std::vector<float> waves;
    waves.reserve(width * static_cast<size_t>(patches.width) * patches.height);
    const auto add = [&](int32_t position, double (*wave)(double)) {
        for (int32_t i = 0; i < quarter; ++i) {
            waves.push_back(static_cast<float>(wave(position * std::pow(10000.0, -static_cast<double>(i) / quarter))));
        }
    };
    for (int32_t y = 0; y < patches.height; ++y) {
        for (int32_t x = 0; x < patches.width; ++x) {
            add(x, std::sin);
            add(x, std::cos);
            add(y, std::sin);
            add(y, std::cos);
        }
    }
    return waves;
}

} // namespace schedscope::vision
