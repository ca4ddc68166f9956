#pragma once

#include "traces/attach/attach_control.h"

/// How this library came into the process, and whether it goes on into those that the process starts.
namespace schedscope::attach {

struct Attachment {
    Control* control; ///< the recorder's first page; null: no recording was asked for of this process
    char path[64];    ///< of the shared memory
    bool sync, children;
    bool joined; ///< into a process that ran already: calls are led here by entries that are changed (patching.h)
};

const Attachment& attachment(); ///< read from the environment when the library was loaded, or as it was told to join

/// Takes the recorder's first page from an open file. False: it is none.
bool attach_to(int file, bool sync);
/// The page is the recorder's no more. Its address stays readable.
void let_control_go();
/// Calls of ggml lead where they led before; the stream has its end. False: a thread is still at a call that is recorded, and
/// ends that. Nothing happens where the library did not join the process, or has left it.
bool leave_process();

} // namespace schedscope::attach
