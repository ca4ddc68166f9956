#pragma once

#include <iosfwd>
#include <string>

namespace schedscope {

/// All of a stream.
std::string read_all(std::istream& in);

/// All of a file. Throws Error(input).
std::string read_file(const std::string& path);

} // namespace schedscope
