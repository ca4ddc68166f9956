#pragma once

#include <cstdint>

namespace schedscope::test {

/// What is made to fail, and when: the nth time that it is done from `arm` on.
enum class Fault : uint8_t {
    none,
    open,        ///< SQLite opens a file
    read,        ///< it reads from one
    write,       ///< it writes to one: nothing is written, as on a full disk
    short_write, ///< the same after half of it was written
    sync,
    truncate,
    lock,
    shared,     ///< the memory that a write-ahead log is shared through
    remove,     ///< it deletes a file
    allocation, ///< memory, of the program's and of SQLite's
};
constexpr Fault last_fault = Fault::allocation;
const char* fault_name(Fault fault) noexcept;

/// Puts faults under SQLite's file systems, this machine's and the one that traces are read through, and under all memory; before
/// anything opens a database.
void install_faults();
/// In a process that was forked: from here on the nth one fails, and only that one, in whatever thread.
void arm(Fault fault, int64_t n) noexcept;
void disarm() noexcept;
/// Did the process that was forked last come to the nth one? Asked in the one that installed them.
bool was_reached() noexcept;

} // namespace schedscope::test
