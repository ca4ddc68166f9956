#pragma once

#include <cstdint>
#include <string>

namespace schedscope {

std::string bytes_text(int64_t bytes);            ///< "10 B", "4.0 KiB", "132 MiB"
std::string duration_text(int64_t ns);            ///< "810 ns", "12.4 µs", "1.24 ms", "3.05 s"
std::string grouped(int64_t number);              ///< "48,310"
std::string counted(int64_t n, const char* noun); ///< "1 node", "2,048 nodes"

} // namespace schedscope
