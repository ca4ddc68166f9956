#pragma once

#include "runtime/planner/records.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tables {
struct SizeSum;
}

/// Numbers as people read them.
namespace schedscope::words {

std::string bytes(int64_t n);                          ///< "10 B", "4.0 KiB", "132 MiB"; "-" below 0: not known
std::string duration(int64_t ns);                      ///< "810 ns", "12.4 µs", "1.24 ms", "3.05 s"
std::string count(int64_t n);                          ///< "48,310"
std::string counted(int64_t n, std::string_view noun); ///< "1 split", "3 splits", "2 copies"
/// Sizes that a log may not tell: "4.0 KiB"; "at least 4.0 KiB" where only some are known; "?" where none is.
std::string bytes(const tables::SizeSum& sum);
/// The same behind what is counted: "3 copies of 4.0 KiB", "… of at least 4.0 KiB", "… of unknown size"; "no copies".
std::string counted_of(int64_t n, std::string_view noun, const tables::SizeSum& sum);
std::string bars(const std::vector<int64_t>& counts); ///< one character a count, as high as it is beside the largest: "▁▃█  ▁"
std::string number(double value);                     ///< six digits that matter: "0.0481203", "-1.5e-12", "inf", "nan"
std::string
value(const record::Value& v); ///< "from 0 to 1, mean 0.25, norm 2 of 16 elements"; with its NaN and infinite ones, if any

} // namespace schedscope::words
