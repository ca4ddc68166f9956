#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace schedscope {

constexpr int64_t most_text_bytes = int64_t{64}
                                    << 20U; ///< of a text that is read: hundreds of times what fills the longest context

/// All of a stream. Throws Error(input) "NAME: why" when it is longer than most_text_bytes; no more than that is read.
std::string read_all(std::istream& in, const std::string& name);

/// All of a file, which may be a pipe. Throws Error(input), also as read_all; of a regular file that is too large nothing is read.
std::string read_file(const std::string& path);

} // namespace schedscope
