#include "runtime/system/number_words.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace schedscope::words {

namespace {

/// Three digits that matter.
std::string scaled(double value, const char* unit) {
    std::array<char, 48> text{};
    const char* format = value < 9.995 ? "%.2f %s" : value < 99.95 ? "%.1f %s" : "%.0f %s";
    std::snprintf(text.data(), text.size(), format, value, unit);
    return text.data();
}

} // namespace

std::string bytes(int64_t n) {
    if (n < 0) {
        return "-";
    }
    constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
    if (n < 1024) {
        return std::to_string(n) + " B";
    }
    double value = to_double(n) / 1024;
    size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text.data();
}

std::string memory(int64_t bytes) {
    constexpr std::array<const char*, 3> units{"KiB", "MiB", "GiB"};
    if (bytes < 1024) {
        return std::to_string(bytes) + " B";
    }
    double amount = to_double(bytes) / 1024;
    size_t unit = 0;
    while (unit + 1 < units.size() && amount >= 1024) {
        amount /= 1024;
        ++unit;
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", amount, units[unit]);
    return text.data();
}

std::string limit(int64_t bytes) {
    constexpr int64_t kib = int64_t{1} << 10U, mib = int64_t{1} << 20U, gib = int64_t{1} << 30U;
    return bytes % gib == 0   ? std::to_string(bytes / gib) + " GiB"
           : bytes % mib == 0 ? std::to_string(bytes / mib) + " MiB"
                              : std::to_string(bytes / kib) + " KiB";
}

std::string rounded(int64_t bytes, int64_t rounding) {
    constexpr double mib = 1024.0 * 1024, slack = 0.01; // a log's half of a digit comes in whole bytes
    constexpr double most_decimals = 6;
    const double decimals = std::floor(std::log10(mib / (2 * to_double(std::max<int64_t>(rounding, 1)))) + slack);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.*f MiB", static_cast<int>(std::clamp(decimals, 0.0, most_decimals)),
                  to_double(bytes) / mib);
    return text.data();
}

std::string duration(int64_t ns) {
    if (ns < 1000) {
        return std::to_string(ns) + " ns";
    }
    const auto value = to_double(ns);
    return value < 999.5e3 ? scaled(value / 1e3, "µs") : value < 999.5e6 ? scaled(value / 1e6, "ms") : scaled(value / 1e9, "s");
}

std::string count(int64_t n) {
    std::string digits = std::to_string(n);
    const size_t start = n < 0 ? 1 : 0;
    for (size_t at = digits.size(); at > start + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

std::string bars(const std::vector<int64_t>& counts) {
    constexpr std::array<const char*, 9> heights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const int64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    std::string text;
    for (const int64_t count : counts) {
        // Rounded up: what is there is seen.
        const double share = count == 0 ? 0 : to_double(count) / to_double(most);
        text += heights[static_cast<size_t>(std::ceil(share * 8))];
    }
    return text;
}

std::string number(double value) {
    if (std::isnan(value)) {
        return "nan"; // without the sign that some processors give it
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string counted(int64_t n, std::string_view noun) {
    std::string text = count(n) + " ";
    if (n == 1) {
        return text.append(noun);
    }
    const bool y =
        noun.size() > 1 && noun.ends_with('y') && std::string_view("aeiou").find(noun[noun.size() - 2]) == std::string_view::npos;
    return y ? text.append(noun.substr(0, noun.size() - 1)) + "ies" : text.append(noun) + (noun.ends_with('s') ? "es" : "s");
}

std::string and_more(int64_t n) { return "and " + count(n) + " more"; }

std::string and_more(int64_t n, std::string_view noun) {
    std::string text = counted(n, noun);
    return "and " + text.insert(text.find(' '), " more");
}

} // namespace schedscope::words
