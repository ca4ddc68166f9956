#pragma once

#include "traces/attach/attach_control.h"

/// How this library came into the process, and whether it goes on into those that the process starts.
namespace schedscope::attach {

struct Attachment {
    Control* control; ///< the recorder's first page; null: nobody asked for a recording of this process
    char path[64];    ///< of the shared memory
    bool sync, children;
};

const Attachment& attachment(); ///< read from the environment when the library was loaded

} // namespace schedscope::attach
