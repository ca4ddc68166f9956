#pragma once

#include <string>

namespace schedscope {

/// May a trace be written to `path`? Throws Error(usage) when something other than a trace lies there, or something that is not
/// SQLite's where its journals are, and `force` is false, or when it is a directory. Nothing is touched.
void check_output(const std::string& path, bool force);

/// Is it a trace by its header (any version)? False when there is no such file, it is no regular one, or it can't be read.
bool is_trace(const std::string& path) noexcept;

} // namespace schedscope
