#pragma once

#include "runtime/system/descriptor.h"

#include <cstddef>
#include <span>
#include <string>

namespace schedscope {

/// The right to write a trace at a path: one program has it at a time, until it ends, however it does. Nothing of an older trace
/// is touched before it is held.
///
/// It is a lock on one byte of the file that SQLite keeps for locks and uses for no other, of the kind that other openings of the
/// file in this process don't end.
class RecordingLock {
public:
    RecordingLock() = default;
    /// Takes it, and makes the file at the path one of these bytes that no other process has open to write, without the journals
    /// of an older one. It has them before it has the name, where the file system can do that. Throws sqlite::Failure: somebody
    /// else has it, or the file can't be made; an older trace is then as it was.
    RecordingLock(const std::string& path, std::span<const std::byte> bytes);
    int descriptor() const noexcept { return file_.get(); } ///< of the file; −1: not held

private:
    Descriptor file_;
};

/// Is a program writing the trace, or has an SQLite tool it open? `file` is open for reading.
bool is_in_use(int file) noexcept;
/// Does a program hold the right to write the trace?
bool is_being_recorded(int file) noexcept;

} // namespace schedscope
