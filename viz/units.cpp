#include "viz/units.h"

#include "traces/tables.h"
#include "traces/unknown.h"
#include "traces/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace schedscope {

namespace {

std::string scaled(double value, int decimals, const char* unit) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit);
    return text.data();
}

} // namespace

std::string bytes_text(int64_t bytes) {
    constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    if (std::abs(value) < 1024) {
        return std::to_string(bytes) + " B";
    }
    size_t unit = 0;
    for (value /= 1024; std::abs(value) >= 1023.5 && unit + 1 < units.size(); ++unit) {
        value /= 1024;
    }
    return scaled(value, std::abs(value) < 99.95 ? 1 : 0, units[unit]);
}

std::string duration_text(int64_t ns) {
    constexpr std::array<const char*, 3> units{"µs", "ms", "s"};
    double value = static_cast<double>(ns);
    if (std::abs(value) < 1000) {
        return std::to_string(ns) + " ns";
    }
    size_t unit = 0;
    for (value /= 1000; std::abs(value) >= 999.5 && unit + 1 < units.size(); ++unit) {
        value /= 1000;
    }
    return scaled(value, std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0, units[unit]);
}

std::string grouped(int64_t number) { return words::count(number); }

std::string counted(int64_t n, const char* noun) { return words::counted(n, noun); }

std::string bytes_text(const tables::SizeSum& sum) {
    return sum.complete ? bytes_text(sum.bytes) : sum.bytes > 0 ? "at least " + bytes_text(sum.bytes) : unknown_text;
}

std::string counted_of(int64_t n, const char* noun, const tables::SizeSum& sum) {
    if (n == 0) {
        return "no " + words::counted(0, noun).substr(2); // the plural
    }
    const bool none_known = !sum.complete && sum.bytes <= 0;
    return counted(n, noun) + " of " + (none_known ? "unknown size" : bytes_text(sum));
}

} // namespace schedscope
