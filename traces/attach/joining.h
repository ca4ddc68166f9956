#pragma once

namespace schedscope::attach {

/// Calls of ggml lead where they led before; the stream has its end. False: a thread is still at a call that is recorded, and
/// ends that. Nothing happens where the library did not join the process, or has left it.
bool leave_process();

} // namespace schedscope::attach
