#pragma once

#include "runtime/system/descriptor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace schedscope {

/// "/proc/ID/WHAT"
std::string proc_path(pid_t id, const std::string& what);
/// A field of the kernel's status of a process ("TracerPid"), or of a thread of it; empty: there is none.
std::string status_of(pid_t process, const std::string& name, pid_t thread = 0);

/// What a thread asks of the system, as the kernel tells of one that waits or is stopped.
struct SystemCall {
    int number = -1; ///< −1: nothing; it runs
    std::array<uint64_t, 6> arguments = {};
};
SystemCall system_call_of(pid_t process, pid_t thread);

/// A part of a process's memory.
struct MappedRange {
    uintptr_t begin = 0, end = 0;
    bool executable = false;
    uint64_t offset = 0, inode = 0; ///< of a file; inode 0: of none
    std::string path;
};

/// A file of code that a process has loaded: from its first range on, `n` ranges.
struct LoadedFile {
    uintptr_t base = 0;
    std::string path;
    uint64_t inode = 0;
    std::vector<MappedRange> ranges;

    std::string_view name() const { return std::string_view(path).substr(path.rfind('/') + 1); }
    bool holds(uintptr_t address) const;
};

/// A function by its place in memory.
struct FoundFunction {
    uintptr_t at = 0;
    uint64_t bytes = 0;
};

/// The memory of another process, and what its loader put there: read from that memory itself, so that neither what its files
/// have become nor where they lie matters.
class OtherProcess {
public:
    explicit OtherProcess(pid_t id); ///< reads nothing yet

    pid_t id() const noexcept { return id_; }
    bool look(); ///< at what is mapped now; false with errno: it can't be seen
    const std::vector<MappedRange>& ranges() const noexcept { return ranges_; }
    const std::vector<LoadedFile>& files() const noexcept { return files_; }
    const MappedRange* range_of(uintptr_t address) const;

    bool read(uintptr_t at, std::span<std::byte> into) const noexcept;
    bool write(uintptr_t at, std::span<const std::byte> bytes) const noexcept; ///< also where the process itself may not
    template <typename T> std::optional<T> read(uintptr_t at) const {
        T value = {};
        return read(at, std::as_writable_bytes(std::span(&value, 1))) ? std::optional(value) : std::nullopt;
    }
    std::string text(uintptr_t at, size_t most) const;

    /// A function that a file exports.
    std::optional<FoundFunction> function(const LoadedFile& file, std::string_view name) const;
    /// Where these bytes stand in its code first; 0: nowhere.
    uintptr_t find_code(const LoadedFile& file, std::span<const std::byte> bytes) const;

private:
    pid_t id_;
    Descriptor memory_;
    std::vector<MappedRange> ranges_;
    std::vector<LoadedFile> files_;
};

} // namespace schedscope
