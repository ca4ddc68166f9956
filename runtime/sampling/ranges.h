#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

/// What values samplers can have, for options, metadata and chains alike.
namespace schedscope {

struct Range {
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
    bool whole = false;

    bool holds(double v) const noexcept { return v >= min && v <= max && (!whole || std::floor(v) == v); }
};

namespace ranges {
inline constexpr double most = std::numeric_limits<int32_t>::max();
inline constexpr Range any{};
inline constexpr Range above_zero{1e-6};
inline constexpr Range not_negative{0};
inline constexpr Range share{0, 1};
inline constexpr Range count{-1, most, true}; ///< −1: all
inline constexpr Range length{0, most, true};
inline constexpr Range mirostat{0, 2, true}; ///< version; 0: off
inline constexpr Range mirostat_version{1, 2, true};
inline constexpr Range seed{0, std::numeric_limits<uint32_t>::max(), true};
} // namespace ranges

/// "can't be 2.5: a whole number from -1 up".
std::string out_of_range(double value, const Range& range);

} // namespace schedscope
