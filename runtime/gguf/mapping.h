#pragma once

#include "runtime/system/bus_error.h"
#include "runtime/system/descriptor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope::gguf {

/// Bytes of a file that the system pages in as they are touched, or bytes in memory. Moving keeps addresses.
class Mapping {
public:
    /// Throws Error(input) "PATH: why".
    static Mapping of_file(const std::string& path);
    static Mapping of_bytes(std::vector<std::byte> bytes) noexcept;

    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// Throws Error(input) when the file has been cut short since: what was read of it may be zeros that it never held. To be
    /// asked before what came of them is used.
    void check_whole() const;

    /// Bytes [offset, offset + bytes) are about to be read: brings their pages into memory, and returns when they are there. The
    /// system reads on as far again meanwhile.
    void read_ahead(size_t offset, size_t bytes) const noexcept;
    /// They are not needed for now: their pages may go. What is read there later comes from the file again.
    void let_go(size_t offset, size_t bytes) const noexcept;
    /// Copies the pages that they lie in to memory of the process, with large pages where there are some, from which is read
    /// faster; it takes the place of what was mapped there, so that addresses stay, and is never let go. For several threads at
    /// once, of pages that are not shared. Where the system has no memory for it nothing changes. To be asked behind it:
    /// check_whole.
    void move_to_large_pages(size_t offset, size_t bytes) const noexcept;
    /// Reads them from the file, past the mapping. Throws Error(input) where the file was cut short or can't be read.
    void read(size_t offset, std::span<std::byte> into) const;

private:
    Mapping() = default;
    void release() noexcept;

    std::span<const std::byte> bytes_;
    std::vector<std::byte> owned_; ///< empty for a file
    std::string path_;
    Descriptor file_;
    MappedRange range_;
    struct Moved; ///< which pages are
    std::unique_ptr<Moved> moved_;
};

} // namespace schedscope::gguf
