#pragma once

#include <atomic>

namespace schedscope {

/// From here on Ctrl-C (SIGINT) and SIGTERM are noted instead of ending the program, so that a run stops at its next token and a trace is closed
/// properly. A second one ends it at once.
void catch_interrupts();

/// Set once one was noted.
const std::atomic<bool>& interrupt_flag() noexcept;
bool interrupted() noexcept;

} // namespace schedscope
