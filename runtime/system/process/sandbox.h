#pragma once

#include <cstdint>

namespace schedscope {

/// What a child may still take once it is in its sandbox.
struct SandboxLimits {
    int64_t memory_bytes = 0;      ///< of addresses, beyond what it has
    int64_t processor_seconds = 0; ///< of all its time
    int64_t written_bytes = 0;     ///< length of any file that it writes
};

/// What a child needs of the kernel.
enum class SandboxNeeds : uint8_t {
    memory, ///< and the files that it has: it computes, and writes the result
    files,  ///< also reads files by their names, loads libraries, and starts threads
};

struct SandboxOptions {
    SandboxLimits limits;
    SandboxNeeds needs = SandboxNeeds::memory;
    bool kernel_filters =
        true; ///< false: as on a kernel that has neither seccomp nor Landlock, or in a container that forbids them
};

/// What is in force. What is not, the kernel does not offer.
struct Sandbox {
    bool limits = false;       ///< also no core dumps, no privileges gained, gone with its parent
    bool addresses = false;    ///< the limit of memory: not under a sanitizer, whose shadow memory counts
    bool system_calls = false; ///< seccomp: what is not needed fails with EPERM
    bool files = false;        ///< Landlock: nothing is written, nor, where only memory is needed, opened
};

/// Takes from this process, for good, what it does not need, and ends it if its parent has gone already. For a child to call
/// before it touches what somebody else made: standard input, output and error stay, all other descriptors are closed. It goes on
/// with less where the kernel offers less.
Sandbox enter_sandbox(const SandboxOptions& options);

} // namespace schedscope
