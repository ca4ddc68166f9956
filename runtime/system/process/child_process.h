#pragma once

#include "runtime/system/memory_file.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace schedscope {

/// What to start, and when to stop waiting for it.
struct ChildCommand {
    std::vector<std::string> command;          ///< a path and its arguments; own_command (program_role.h): this program in a role
    int64_t seconds = 0;                       ///< of wall time, then it is ended
    std::function<bool()> cancelled;           ///< asked whenever a signal arrived or a moment has passed; true ends it
    std::vector<std::string> environment = {}; ///< "NAME=value" each; the rest is this program's
    /// It starts programs of its own, a shell's command: they are in a group with it, which is ended together. A terminal's
    /// Ctrl-C does not reach them; `cancelled` has to.
    bool as_group = false;
};
constexpr int64_t unlimited_seconds = 1'000'000'000; ///< thirty years

/// How a child ended.
struct ChildEnd {
    enum class How : uint8_t { not_started, exited, killed, too_late, cancelled };
    How how = How::not_started;
    int code = 0;           ///< exited: its exit code; killed: the signal
    std::string said;       ///< the first line on its stderr, without control characters; not_started: why
    double processor_s = 0; ///< exited: the processor's time that it took, with that of children which it waited for

    bool interrupted() const noexcept; ///< cancelled, or ended by a signal that asks programs to end (Ctrl-C reaches it, too)
    std::string signal_name() const;   ///< of a child that was killed: "Segmentation fault"
};

/// Runs a child with `in` as its standard input and `out` as its standard output, both of them memory files. It is gone when this
/// returns or throws, which only `cancelled` makes it do.
ChildEnd run_child(const ChildCommand& command, const MemoryFile& in, const MemoryFile& out);

} // namespace schedscope
