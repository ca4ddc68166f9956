#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace schedscope {

/// Reads the whole file through and compares what must agree; slow, made for a thread in the background. Nothing when the file
/// is sound, else what is wrong (one line "PATH: why"), or when it was asked to stop.
std::optional<std::string> check_integrity(const std::string& path, std::stop_token stop = {});

/// Reads the rows of each table and compares their hashes with those that were kept when the trace was closed. Nothing when
/// they are the same (indexes and statistics are no rows), when it was never closed, or when it was asked to stop; else "PATH:
/// table assign: changed after it was written", or why that can't be read.
std::optional<std::string> find_changes(const std::string& path, std::function<bool()> stop = {});

} // namespace schedscope
