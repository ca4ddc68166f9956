#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

/// What values samplers can have, for options, metadata and chains alike.
namespace schedscope {

struct ValueRange {
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
    bool whole = false;

    bool holds(double v) const noexcept { return v >= min && v <= max && (!whole || std::floor(v) == v); }
};

namespace ranges {
inline constexpr double most = std::numeric_limits<int32_t>::max();
inline constexpr ValueRange any{};
inline constexpr ValueRange above_zero{1e-6};
inline constexpr ValueRange not_negative{0};
inline constexpr ValueRange share{0, 1};
inline constexpr ValueRange count{-1, most, true}; ///< −1: all
inline constexpr ValueRange length{0, most, true};
inline constexpr ValueRange mirostat{0, 2, true}; ///< version; 0: off
inline constexpr ValueRange mirostat_version{1, 2, true};
inline constexpr ValueRange seed{0, std::numeric_limits<uint32_t>::max(), true};
} // namespace ranges

/// "can't be 2.5: a whole number from -1 up".
std::string out_of_range(double value, const ValueRange& range);

} // namespace schedscope
