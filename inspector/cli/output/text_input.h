#pragma once

#include <iosfwd>
#include <string>

namespace schedscope {

/// All of a stream. Throws Error(input) "NAME: why" when it is longer than budget::text_bytes; no more than that is read.
std::string read_all(std::istream& in, const std::string& name);

/// All of a file, which may be a pipe. Throws Error(input), also as read_all; of a regular file that is too large nothing is
/// read.
std::string read_file(const std::string& path);

} // namespace schedscope
