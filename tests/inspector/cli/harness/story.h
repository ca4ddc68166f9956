#pragma once

#include <string>

namespace schedscope::test {

/// The beginning of what model() tells greedily from BOS alone, of n tokens: of as many as 200 if none is given.
std::string known_text(size_t n = 200);

/// Is the device there? Asks `devices --json`.
bool has_device(const std::string& name);

} // namespace schedscope::test
