#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <sys/mman.h>

namespace schedscope {

constexpr size_t large_page = size_t{2} << 20U; ///< bytes

struct Freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using FreedBytes = std::unique_ptr<std::byte, Freed>;

/// Memory from the begin of a cache line on, also for 0 bytes; much of it in pages of 2 MiB, if there are some: a fifth more is
/// read from them in a second. Null: there is none.
inline FreedBytes allocate_in_large_pages(size_t bytes) noexcept {
    constexpr size_t line = 64;
    const size_t alignment = bytes >= 2 * large_page ? large_page : line;
    const size_t wanted = std::max<size_t>(bytes, 1), more = alignment - 1;
    const size_t rounded = wanted > SIZE_MAX - more ? 0 : (wanted + more) / alignment * alignment;
    FreedBytes memory(rounded != 0 ? static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)) : nullptr);
    if (memory != nullptr && alignment == large_page) {
        ::madvise(memory.get(), rounded, MADV_HUGEPAGE); // where there are none nothing changes
    }
    return memory;
}

} // namespace schedscope
