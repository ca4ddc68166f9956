#pragma once

#include "runtime/system/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace schedscope {

/// A file that lies in memory alone and has no name. Bytes go to a child and come back from it this way: nothing has to be kept
/// flowing, as through a pipe, and no signal arrives when the child is gone.
class MemoryFile {
public:
    /// `what` is its name in /proc. Where there is none to be had it is not open, and errno says why.
    explicit MemoryFile(const char* what);

    explicit operator bool() const noexcept { return static_cast<bool>(file_); }
    int descriptor() const noexcept { return file_.get(); }

    bool append(std::span<const std::byte> bytes); ///< false with errno: memory ran out
    /// It stays as it is from now on, and reading begins at its beginning. False with errno.
    bool finish();

    int64_t size() const noexcept;
    /// Fills `into` with what begins at `at`; false: it ends before.
    bool read(int64_t at, std::span<std::byte> into) const;

private:
    Descriptor file_;
};

} // namespace schedscope
