#pragma once

#include "inspector/cli/attach/joining/other_process.h"
#include "inspector/cli/attach/joining/registers.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace schedscope {

constexpr uint32_t contended = 2; ///< the word of a lock of the C library's, while somebody waits for it

/// A thread of another process, held by ptrace. Between stop() and let_go() it does for us what it is told; then it goes on where
/// it was, with the registers, the vector registers, the mask of signals and the call of the system that it had.
/// Whoever uses it is one thread, and waits for no other child.
class StoppedThread {
public:
    enum class Stop : uint8_t { stopped, refused, gone, busy, stopped_by_others };

    StoppedThread(const OtherProcess& process, pid_t id) : process_(process), id_(id) {}
    ~StoppedThread(); ///< lets it go
    StoppedThread(const StoppedThread&) = delete;
    StoppedThread& operator=(const StoppedThread&) = delete;

    Stop stop(); ///< refused: errno says why; busy: the kernel does not stop it now
    void let_go();
    bool gone() const noexcept { return gone_; }
    const machine::Registers& registers() const noexcept { return before_; }

    /// A call of the system, at a place where the process has the instruction for it. Its result, or −errno.
    long call_system(uintptr_t instruction, long number, const machine::Arguments& arguments = {});
    /// A function of the process. `stub`: where machine::stub was written; `stack_end`: of memory for it. Nothing: it did not
    /// come back in time, or failed. Whoever keeps a lock from it is held while it gives that.
    std::optional<uint64_t> call_function(uintptr_t stub, uintptr_t stack_end, uintptr_t function,
                                          const machine::Arguments& arguments);

private:
    using Clock = std::chrono::steady_clock;
    std::optional<int> wait(Clock::time_point until);
    bool get(machine::Registers& registers);
    bool set(const machine::Registers& registers);
    bool go_to_call(const machine::Registers& registers, Clock::time_point until);
    bool go_on_to_call(Clock::time_point until);
    bool is_interrupted_call() const;
    void detach();
    bool go_on_until_given(uintptr_t lock);
    void have_given(uintptr_t lock);
    void keep_state();
    void restore_state();
    bool has_pending_signals() const;

    const OtherProcess& process_;
    pid_t id_;
    bool held_ = false, gone_ = false, changed_ = false;
    bool moved_ = false; ///< it did something of its own since it was stopped
    machine::Registers before_ = {};
    std::vector<std::vector<std::byte>> vectors_; ///< as machine::vector_states; empty: the machine has none
    uint64_t mask_ = 0;
    std::unique_ptr<StoppedThread> giver_; ///< a thread that gave back given_, for which this one waits; held until it has that
    uintptr_t given_ = 0;
};

} // namespace schedscope
