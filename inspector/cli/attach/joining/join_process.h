#pragma once

#include "inspector/cli/attach/shared_pages.h"

#include <memory>

namespace schedscope {

/// What the first attempt gives that is not busy, or the last of `most`. In between it waits, as long as `wait` says that there
/// is something to wait for.
template <typename Attempt, typename IsBusy, typename Wait>
auto try_while_busy(const Attempt& attempt, const IsBusy& is_busy, const Wait& wait, int most) {
    auto result = attempt();
    for (int n = 1; n < most && is_busy(result) && wait(); ++n) {
        result = attempt();
    }
    return result;
}

/// A process that runs, with our library put into it: from here on it sends what its schedulers of ggml do. Nothing of it stays
/// in any file. Whoever makes this is asked to leave() before it goes; where it can't, the library finds out by itself.
class JoinedProcess {
public:
    /// Throws Error: what stands against it, and the cure.
    JoinedProcess(pid_t id, const AttachOptions& options);

    SharedPages& pages() const { return *pages_; }
    int calls() const noexcept { return calls_; } ///< of ggml, that lead to the library
    bool wait_for_end(int timeout_ms) const;      ///< so many ms at most; true: it has ended
    /// Is it still the program that was joined: neither ended nor become another one?
    bool is_there() const;
    /// Calls lead where they led before. Empty: done; else what it could not be done for, and what that means.
    std::string leave() const;

private:
    pid_t id_;
    Descriptor process_; ///< readable once it has ended
    std::unique_ptr<SharedPages> pages_;
    int calls_ = 0;
    uint64_t library_ = 0; ///< the file of its memory
};

} // namespace schedscope
