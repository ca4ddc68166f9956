#include "runtime/system/bus_error.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace schedscope {

/// Where a range lies. The handler reads it without a lock, so it is never freed, but used again; `version` is odd while it is
/// being changed.
struct MappedRange::Slot {
    std::atomic<uint64_t> version = 0;
    std::atomic<uintptr_t> begin = 0, end = 0; ///< equal: not used
    std::atomic<bool> lost_pages = false;
    Slot* next = nullptr; ///< set before others see the slot
};

namespace {

using Slot = MappedRange::Slot;

std::atomic<Slot*> slots = nullptr;
std::mutex changing; ///< held by whoever changes a slot
struct sigaction before;
uintptr_t page_size = 4096;

static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<Slot*>::is_always_lock_free); // so a signal handler may read them

void set(Slot& slot, uintptr_t begin, uintptr_t end) noexcept {
    ++slot.version;
    slot.begin = begin;
    slot.end = end;
    slot.lost_pages = false;
    ++slot.version;
}

/// The end of the range that the slot holds, if the address is in it; else 0.
uintptr_t end_of(const Slot& slot, uintptr_t address) noexcept {
    for (;;) {
        const uint64_t version = slot.version;
        const uintptr_t begin = slot.begin;
        const uintptr_t end = slot.end;
        if (version % 2 == 0 && version == slot.version) {
            return begin <= address && address < end ? end : 0;
        }
    }
}

/// What would have happened without us.
void leave_to_former_handler(int number, siginfo_t* fault, void* context) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, fault, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        std::signal(number, SIG_DFL);
        std::raise(number); // delivered when this handler returns
    }
}

void on_bus_error(int number, siginfo_t* fault, void* context) {
    if (!mend_bus_error(*fault)) {
        leave_to_former_handler(number, fault, context);
    }
}

void install_handler() {
    static const bool installed = [] {
        page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        struct sigaction action {};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        return sigaction(SIGBUS, nullptr, &before) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
    }();
    static_cast<void>(installed);
}

} // namespace

bool mend_bus_error(const siginfo_t& fault) noexcept {
    if (fault.si_code <= 0) { // it was sent by a process: no address belongs to it
        return false;
    }
    const auto address = reinterpret_cast<uintptr_t>(fault.si_addr);
    for (Slot* slot = slots; slot != nullptr; slot = slot->next) {
        const uintptr_t end = end_of(*slot, address);
        if (end == 0) {
            continue;
        }
        slot->lost_pages = true; // first: who reads the zeros finds it
        const int kept_errno = errno;
        const uintptr_t page = address / page_size * page_size;
        const bool mended = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                                 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
        errno = kept_errno;
        return mended;
    }
    return false;
}

MappedRange::MappedRange(std::span<const std::byte> bytes) {
    const std::lock_guard lock(changing);
    install_handler();
    for (slot_ = slots; slot_ != nullptr && slot_->begin != slot_->end;) {
        slot_ = slot_->next;
    }
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
    if (slot_ != nullptr) {
        set(*slot_, begin, begin + bytes.size());
        return;
    }
    slot_ = new Slot;
    set(*slot_, begin, begin + bytes.size());
    slot_->next = slots;
    slots = slot_;
}

MappedRange::~MappedRange() {
    if (slot_ != nullptr) {
        const std::lock_guard lock(changing);
        set(*slot_, 0, 0);
    }
}

MappedRange::MappedRange(MappedRange&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}

MappedRange& MappedRange::operator=(MappedRange&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
}

bool MappedRange::lost_pages() const noexcept { return slot_ != nullptr && slot_->lost_pages; }

} // namespace schedscope
