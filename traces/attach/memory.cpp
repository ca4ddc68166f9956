#include "traces/attach/memory.h"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>

namespace schedscope::attach {

bool Bytes::reserve(size_t bytes) {
    if (bytes <= size_) {
        return true;
    }
    size_t size = size_ == 0 ? size_t{1} << 16 : size_;
    while (size < bytes) {
        size *= 2;
    }
    void* const at = data_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                      : mremap(data_, size_, size, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) {
        return false;
    }
    data_ = static_cast<char*>(at);
    size_ = size;
    return true;
}

Bytes::~Bytes() {
    if (data_ != nullptr) {
        munmap(data_, size_);
    }
}

char* Bytes::release() {
    char* const kept = data_;
    data_ = nullptr;
    size_ = 0;
    return kept;
}

bool PointerMap::clear(int n) {
    size_t room = 64;
    while (room < 2 * static_cast<size_t>(n)) {
        room *= 2;
    }
    if (!bytes_.reserve(room * sizeof(Entry))) {
        return false;
    }
    mask_ = room - 1;
    if (++round_ == 0) {
        memset(bytes_.data(), 0, bytes_.size());
        round_ = 1;
    }
    return true;
}

Lock::Lock(uint32_t& word) : word_(word) {
    while (__atomic_exchange_n(&word_, 1, __ATOMIC_ACQUIRE) != 0) {
        sched_yield();
    }
}
Lock::~Lock() { __atomic_store_n(&word_, 0, __ATOMIC_RELEASE); }

int64_t now_ns() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

} // namespace schedscope::attach
