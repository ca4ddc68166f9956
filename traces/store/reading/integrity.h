#pragma once

#include <optional>
#include <stop_token>
#include <string>

namespace schedscope {

/// Reads the whole file through and compares what must agree; slow, made for a thread in the background. Nothing when the file is sound, else what is wrong
/// (one line "PATH: why"), or when it was asked to stop.
std::optional<std::string> check_integrity(const std::string& path, std::stop_token stop = {});

} // namespace schedscope
