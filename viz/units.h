#pragma once

#include <cstdint>
#include <string>

namespace schedscope {

namespace tables {
struct SizeSum;
}

std::string bytes_text(int64_t bytes);            ///< "10 B", "4.0 KiB", "132 MiB"
std::string duration_text(int64_t ns);            ///< "810 ns", "12.4 µs", "1.24 ms", "3.05 s"
std::string grouped(int64_t number);              ///< "48,310"
std::string counted(int64_t n, const char* noun); ///< "1 node", "2,048 nodes"

/// Sizes that a log may not tell: "4.0 KiB"; "at least 4.0 KiB" where only some are known; "?" where none is.
std::string bytes_text(const tables::SizeSum& sum);
/// The same behind what is counted: "3 copies of 4.0 KiB", "… of at least 4.0 KiB", "… of unknown size"; "no copies".
std::string counted_of(int64_t n, const char* noun, const tables::SizeSum& sum);

} // namespace schedscope
