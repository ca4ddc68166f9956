#pragma once

#include <cstdint>
#include <string>

namespace schedscope {

/// "512 B", "1.5 KiB", "12.0 MiB", "24.0 GiB": for sentences about memory.
std::string memory_text(int64_t bytes);

} // namespace schedscope
