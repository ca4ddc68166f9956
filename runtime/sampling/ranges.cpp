#include "runtime/sampling/ranges.h"

#include <array>
#include <charconv>

namespace schedscope {

namespace {

std::string shortest(double v) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr};
}

} // namespace

std::string out_of_range(double value, const Range& range) {
    std::string text = "can't be " + shortest(value) + ": " + (range.whole ? "a whole number" : "a number");
    text += std::isfinite(range.min) ? " from " + shortest(range.min) : "";
    const bool last = std::isfinite(range.max) && range.max != ranges::most;
    return text + (last ? " to " + shortest(range.max) : std::isfinite(range.min) ? " up" : "");
}

} // namespace schedscope
