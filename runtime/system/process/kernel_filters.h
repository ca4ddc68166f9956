#pragma once

#include "runtime/system/process/sandbox.h"

namespace schedscope {

/// Lets this process, all its threads, and whatever they start make only the system calls that it needs: others fail with EPERM,
/// or with ENOSYS where the C library then does without. A call of another architecture ends it. False: the kernel has no such
/// filters, forbids them, or this architecture's calls are not known here.
bool filter_system_calls(SandboxNeeds needs);

/// Makes the file system read-only to this process, or closed where only memory is needed; also no network. False: the kernel has
/// no Landlock, or forbids it.
bool restrict_files(SandboxNeeds needs);

} // namespace schedscope
