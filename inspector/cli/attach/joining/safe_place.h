#pragma once

#include "inspector/cli/attach/joining/stopped_thread.h"

namespace schedscope {

/// Where a thread of a program may be held and made to call the loader: not within it, and not within the allocator, whose locks
/// it would hold. Looked at from outside, while the program runs.
class SafePlaces {
public:
    explicit SafePlaces(const OtherProcess& process);

    /// The C library; nothing: it is not one that is known.
    const std::optional<LoadedFile>& libc() const noexcept { return libc_; }
    /// A function of it, which in older ones is in a file of its own; 0: there is none.
    uintptr_t function(std::string_view name) const;
    /// Threads, those first that wait for something for which neither the loader nor the allocator waits.
    std::vector<pid_t> threads() const;
    bool is_safe(const StoppedThread& thread, pid_t id) const;

private:
    bool waits_outside(int call, const machine::Arguments& arguments, pid_t id) const;
    bool within_handler_or_loader(uintptr_t stack) const;
    bool is_system(uintptr_t address) const; ///< code of the C library, of the loader, of our library

    const OtherProcess& process_;
    std::vector<LoadedFile> system_; ///< they are loaded for as long as the process lives
    std::optional<LoadedFile> libc_;
    bool own_allocator_ = false; ///< the program's, of which nothing is known
    uintptr_t end_of_handler_ = 0;
    FoundFunction lists_objects_; ///< dl_iterate_phdr, which calls back with the loader's lock held
};

} // namespace schedscope
