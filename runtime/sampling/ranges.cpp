#include "runtime/sampling/ranges.h"

#include "runtime/numbers.h"

#include <array>
#include <charconv>

namespace schedscope {

namespace {

/// Values are floats; whole ones may have more digits than a float has.
std::string shortest(double v, bool whole = true) {
    std::array<char, 32> text{};
    char* const end = text.data() + text.size();
    return {text.data(), whole ? std::to_chars(text.data(), end, v).ptr : std::to_chars(text.data(), end, to_float(v)).ptr};
}

} // namespace

std::string out_of_range(double value, const ValueRange& range) {
    std::string text =
        "can't be " + shortest(value, std::floor(value) == value) + ": " + (range.whole ? "a whole number" : "a number");
    text += std::isfinite(range.min) ? " from " + shortest(range.min, false) : "";
    const bool last = std::isfinite(range.max) && range.max != ranges::most;
    return text + (last ? " to " + shortest(range.max, range.whole) : std::isfinite(range.min) ? " up" : "");
}

} // namespace schedscope
