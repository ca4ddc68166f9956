#pragma once

#include <cstdint>
#include <string>

namespace schedscope::test {

/// Presses random keys (with clicks, wheel turns and changes of the window's size in between) in the inspector over a sample
/// trace, the same ones for the same seed, and looks after every few whether it is alive. At the end Q quits and the terminal is
/// as it was. Failures are gtest's.
void press_random_keys(const std::string& sample, uint32_t seed, int n_keys);

} // namespace schedscope::test
