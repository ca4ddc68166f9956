#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Numbers as people read them: sizes, durations and counts.
namespace schedscope::words {

std::string bytes(int64_t n);      ///< in three digits: "10 B", "4.0 KiB", "132 MiB"; "-" below 0: not known
std::string memory(int64_t bytes); ///< to a tenth, for what fits and what doesn't: "512 B", "1.5 KiB", "1023.9 MiB", "24.0 GiB"
std::string limit(int64_t bytes);  ///< of a bound, exactly: "256 KiB", "1536 MiB", "2 GiB"
std::string rounded(int64_t bytes, int64_t rounding);   ///< in MiB, with no digit that is not known: "0.89 MiB", "164 MiB"
std::string duration(int64_t ns);                       ///< "810 ns", "12.4 µs", "1.24 ms", "3.05 s"
std::string count(int64_t n);                           ///< "48,310"
std::string counted(int64_t n, std::string_view noun);  ///< "1 split", "3 splits", "2 copies"
std::string and_more(int64_t n);                        ///< behind the first of many: "and 12 more"
std::string and_more(int64_t n, std::string_view noun); ///< where what they are is not said beside: "and 12 more splits"
std::string number(double value);                       ///< six digits that matter: "0.0481203", "-1.5e-12", "inf", "nan"
std::string bars(const std::vector<int64_t>& counts); ///< one character a count, as high as it is beside the largest: "▁▃█  ▁"

} // namespace schedscope::words
