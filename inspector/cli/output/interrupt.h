#pragma once

#include <atomic>
#include <string>

namespace schedscope {

/// From here on Ctrl-C (SIGINT) and SIGTERM are noted instead of ending the program, so that a run stops at its next token and a
/// trace is closed properly. A second one ends it at once, and says of the trace that is then not closed what belongs to it.
void catch_interrupts(const std::string& trace = {});

/// Set once one was noted.
const std::atomic<bool>& interrupt_flag() noexcept;
bool interrupted() noexcept;

/// When all is done and written: the process ends with this code within seconds from now. Libraries that were loaded may wait at
/// its end for threads of theirs that never come, as OpenBLAS does for one that got no memory.
void bound_exit(int code) noexcept;

} // namespace schedscope
