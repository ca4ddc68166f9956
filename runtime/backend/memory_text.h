#pragma once

#include <cstddef>
#include <string>

namespace schedscope {

/// "512 B", "1.5 KiB", "12.0 MiB", "24.0 GiB": for sentences about memory that is not there.
std::string memory_text(size_t bytes);

} // namespace schedscope
