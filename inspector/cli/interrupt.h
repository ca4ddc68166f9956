#pragma once

namespace schedscope {

/// From here on Ctrl-C (SIGINT) and SIGTERM are noted instead of ending the program, so that a run stops at its next token and a trace is closed
/// properly. A second one ends it at once.
void catch_interrupts();

/// One was noted.
bool interrupted() noexcept;

} // namespace schedscope
