#pragma once

#include <csignal>
#include <cstddef>
#include <span>

namespace schedscope {

/// A stretch of memory that a file is mapped to. When the file is cut short, the pages behind its new end are gone, and reading
/// them raises SIGBUS, which would end the process. While this lives, such a read gives zeros, on whatever thread it happens, and
/// all pages from there to the end of the stretch are zeros from then on. Whoever reads the stretch asks `lost_pages` before it
/// trusts what came of it.
class MappedRange {
public:
    MappedRange() = default; ///< of nothing
    /// As mmap gave it. The first one of the process installs the handler of SIGBUS, which leaves other faults to the handler
    /// that was there.
    explicit MappedRange(std::span<const std::byte> bytes);
    ~MappedRange(); ///< comes before munmap
    MappedRange(MappedRange&& other) noexcept;
    MappedRange& operator=(MappedRange&& other) noexcept;

    bool lost_pages() const noexcept;

    struct Slot;

private:
    Slot* slot_ = nullptr;
};

/// For a handler of SIGBUS that was installed behind ours: puts zeros where the fault is. False: the fault is in no MappedRange.
/// Safe in a signal handler.
bool mend_bus_error(const siginfo_t& fault) noexcept;

} // namespace schedscope
