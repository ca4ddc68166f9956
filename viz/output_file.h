#pragma once

#include <string>

namespace schedscope {

/// Writes a whole file. Throws Error(device) when that fails; half a file is removed then.
void write_output_file(const std::string& path, const std::string& bytes);

} // namespace schedscope
