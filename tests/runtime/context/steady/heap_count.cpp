#include "tests/runtime/context/steady/heap_count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <link.h>

// The C library's own, which the functions below stand in for.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace schedscope::test {
namespace {

std::atomic<long> all{0}, own{0};
std::atomic<bool> stops{false};

/// Where the code of this program and of the C++ library lies: at most two ranges.
struct CodeRange {
    uintptr_t begin = 0, end = 0;
};
CodeRange program, library;

int note_object(dl_phdr_info* info, size_t, void*) {
    const bool is_program = info->dlpi_name[0] == '\0';
    if (is_program && program.end != 0) {
        return 0; // the kernel's own page has no name either
    }
    if (!is_program && std::strstr(info->dlpi_name, "libstdc++") == nullptr) {
        return 0;
    }
    CodeRange& range = is_program ? program : library;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
            range = {info->dlpi_addr + header.p_vaddr, info->dlpi_addr + header.p_vaddr + header.p_memsz};
        }
    }
    return 0;
}
[[gnu::constructor]] void find_ranges() { dl_iterate_phdr(note_object, nullptr); }

void count(const void* caller) noexcept {
    const auto at = reinterpret_cast<uintptr_t>(caller);
    all.fetch_add(1, std::memory_order_relaxed);
    if ((at >= program.begin && at < program.end) || (at >= library.begin && at < library.end)) {
        own.fetch_add(1, std::memory_order_relaxed);
        if (stops.load(std::memory_order_relaxed)) {
            std::abort();
        }
    }
}

} // namespace

long heap_allocations(Whose whose) noexcept { return whose == Whose::ours ? own : all; }

void watch_allocations(bool on) noexcept {
    const char* wanted = std::getenv("SCHEDSCOPE_STOP_AT_ALLOCATION");
    stops = on && wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

} // namespace schedscope::test

using schedscope::test::count;

extern "C" {
void* malloc(size_t size) {
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
    count(__builtin_return_address(0));
    return __libc_calloc(n, size);
}
void* realloc(void* memory, size_t size) {
    count(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    *memory = __libc_memalign(alignment, size);
    return *memory != nullptr ? 0 : ENOMEM;
}
}
