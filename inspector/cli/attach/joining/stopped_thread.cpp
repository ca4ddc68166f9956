#include "inspector/cli/attach/joining/stopped_thread.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <elf.h>
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope {

namespace {

constexpr int syscall_stop = SIGTRAP | 0x80; ///< with PTRACE_O_TRACESYSGOOD
constexpr std::chrono::seconds call_limit(10);
constexpr std::chrono::milliseconds stop_limit(200);
constexpr std::chrono::seconds give_limit(5), lock_limit(60); ///< until a lock is given; until all are that a call takes
constexpr int few_waits = 8;                                  ///< stops at a lock, until its owner is made to give it
constexpr size_t most_vector_bytes = 1 << 16;

long trace(int request, pid_t id, uintptr_t address, uintptr_t data) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace's signature
    return ptrace(static_cast<__ptrace_request>(request), id, reinterpret_cast<void*>(address), reinterpret_cast<void*>(data));
}
uintptr_t as_number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

bool is_event_stop(int status) { return status >> 16 == PTRACE_EVENT_STOP; }

/// With which it was stopped, and which it gets; 0: with none.
int signal_of(int status) { return is_event_stop(status) || WSTOPSIG(status) == syscall_stop ? 0 : WSTOPSIG(status); }

/// What a thread raises itself is not held back: the kernel would change what the program does about it.
uint64_t all_but_faults() {
    uint64_t mask = ~uint64_t{0};
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) {
        mask &= ~(uint64_t{1} << (number - 1));
    }
    return mask;
}

/// The lock of the C library's for which a thread waits in this call; 0: for none.
uintptr_t lock_of(const SystemCall& call) {
    const bool waits = call.number == SYS_futex && (static_cast<int>(call.arguments[1]) & FUTEX_CMD_MASK) == FUTEX_WAIT;
    return waits && static_cast<uint32_t>(call.arguments[2]) == contended ? call.arguments[0] : 0;
}

/// Is the thread with this number for the process one of it for us, too? Not in a container that numbers its own.
bool is_same_in_namespace(pid_t process, pid_t thread) {
    const std::string numbers = status_of(process, "NSpid", thread); // the last one is in its own
    return !numbers.empty() && numbers.substr(numbers.find_last_of('\t') + 1) == std::to_string(thread);
}

} // namespace

StoppedThread::~StoppedThread() { let_go(); }

std::optional<int> StoppedThread::wait(Clock::time_point until) {
    for (;;) {
        int status = 0;
        const pid_t which = waitpid(id_, &status, __WALL | WNOHANG);
        if (which == id_ && (WIFEXITED(status) || WIFSIGNALED(status))) {
            gone_ = true;
            held_ = false;
            return std::nullopt;
        }
        if (which == id_ && WIFSTOPPED(status)) {
            return status;
        }
        if (which < 0 && errno != EINTR) {
            gone_ = true;
            held_ = false;
            return std::nullopt;
        }
        if (Clock::now() > until) {
            return std::nullopt;
        }
        usleep(50);
    }
}

StoppedThread::Stop StoppedThread::stop() {
    if (trace(PTRACE_SEIZE, id_, 0, PTRACE_O_TRACESYSGOOD) != 0) {
        return errno == ESRCH ? Stop::gone : Stop::refused;
    }
    held_ = true;
    if (trace(PTRACE_INTERRUPT, id_, 0, 0) != 0) {
        return Stop::gone;
    }
    for (const Clock::time_point until = Clock::now() + stop_limit;;) {
        const std::optional<int> status = wait(until);
        if (!status) {
            return gone_ ? Stop::gone : Stop::busy;
        }
        if (is_event_stop(*status)) {
            if (WSTOPSIG(*status) != SIGTRAP) {
                return Stop::stopped_by_others;
            }
            break;
        }
        trace(PTRACE_CONT, id_, 0, WSTOPSIG(*status)); // a signal, which it gets
    }
    return get(before_) ? Stop::stopped : Stop::gone;
}

bool StoppedThread::get(machine::Registers& registers) {
    iovec place = {&registers, sizeof registers};
    return trace(PTRACE_GETREGSET, id_, NT_PRSTATUS, as_number(&place)) == 0;
}
bool StoppedThread::set(const machine::Registers& registers) {
    machine::Registers copy = registers;
    iovec place = {&copy, sizeof copy};
    return trace(PTRACE_SETREGSET, id_, NT_PRSTATUS, as_number(&place)) == 0;
}

void StoppedThread::keep_state() {
    if (changed_) {
        return;
    }
    changed_ = true;
    for (const int state : machine::vector_states) {
        std::vector<std::byte> bytes(most_vector_bytes);
        iovec place = {bytes.data(), bytes.size()};
        bytes.resize(trace(PTRACE_GETREGSET, id_, state, as_number(&place)) == 0 ? place.iov_len : 0);
        vectors_.push_back(std::move(bytes));
    }
    trace(PTRACE_GETSIGMASK, id_, sizeof mask_, as_number(&mask_));
    const uint64_t mask = all_but_faults();
    trace(PTRACE_SETSIGMASK, id_, sizeof mask, as_number(&mask));
}

/// Once more it is stopped as it was at first: only from there does the kernel begin an interrupted call again.
void StoppedThread::restore_state() {
    trace(PTRACE_INTERRUPT, id_, 0, 0);
    for (const Clock::time_point until = Clock::now() + call_limit;;) {
        trace(PTRACE_CONT, id_, 0, 0);
        const std::optional<int> status = wait(until);
        if (!status) {
            return;
        }
        if (is_event_stop(*status) && WSTOPSIG(*status) == SIGTRAP) {
            break;
        }
    }
    for (size_t i = 0; i < vectors_.size(); ++i) {
        iovec place = {vectors_[i].data(), vectors_[i].size()};
        if (!vectors_[i].empty()) {
            trace(PTRACE_SETREGSET, id_, machine::vector_states[i], as_number(&place));
        }
    }
    trace(PTRACE_SETSIGMASK, id_, sizeof mask_, as_number(&mask_));
}

bool StoppedThread::has_pending_signals() const {
    const auto signals = [&](const char* which) {
        return std::strtoull(status_of(process_.id(), which, id_).c_str(), nullptr, 16);
    };
    return ((signals("SigPnd") | signals("ShdPnd")) & ~signals("SigBlk")) != 0;
}

/// Was it in a call of the system that ended because it was stopped, and that the kernel does not begin again by itself?
bool StoppedThread::is_interrupted_call() const {
    return !moved_ && machine::can_call_again && machine::called(before_, 0) != machine::no_call &&
           machine::result(before_) == static_cast<uint64_t>(-EINTR);
}

/// Also of one that was told to stop and did not yet: else it would stop for nobody.
void StoppedThread::detach() {
    for (int signal = 0; trace(PTRACE_DETACH, id_, 0, static_cast<uintptr_t>(signal)) != 0 && errno == ESRCH && !gone_;) {
        trace(PTRACE_INTERRUPT, id_, 0, 0);
        const std::optional<int> status = wait(Clock::now() + call_limit);
        if (!status) {
            break;
        }
        signal = signal_of(*status);
    }
    held_ = false;
}

void StoppedThread::let_go() {
    giver_.reset();
    if (!held_) {
        return;
    }
    if (changed_) {
        restore_state();
    }
    machine::Registers registers = before_;
    if (!gone_ && is_interrupted_call() && !has_pending_signals()) {
        machine::call_again(registers);
        set(registers);
    } else if (!gone_ && changed_) {
        set(registers);
    }
    detach();
}

bool StoppedThread::go_on_to_call(Clock::time_point until) {
    for (;;) {
        trace(PTRACE_SYSCALL, id_, 0, 0);
        const std::optional<int> status = wait(until);
        if (!status) {
            return false;
        }
        if (WSTOPSIG(*status) == syscall_stop) {
            return true;
        }
        if (!is_event_stop(*status)) {
            return false; // a fault
        }
    }
}

/// It does what it would do, with the signals that it gets, until it is about to wake whoever waits for the lock.
bool StoppedThread::go_on_until_given(uintptr_t lock) {
    const Clock::time_point until = Clock::now() + give_limit;
    moved_ = true;
    for (bool late = false; !late;) {
        int signal = 0;
        do {
            trace(PTRACE_SYSCALL, id_, 0, static_cast<uintptr_t>(signal));
            std::optional<int> status = wait(until);
            if (!status && !gone_) {
                late = true;
                trace(PTRACE_INTERRUPT, id_, 0, 0);
                status = wait(Clock::now() + call_limit);
            }
            if (!status || (is_event_stop(*status) && WSTOPSIG(*status) != SIGTRAP)) {
                return false;
            }
            signal = signal_of(*status);
        } while (signal != 0);
        const SystemCall call = system_call_of(process_.id(), id_);
        if (call.number == SYS_futex && call.arguments[0] == lock &&
            (static_cast<int>(call.arguments[1]) & FUTEX_CMD_MASK) == FUTEX_WAKE) {
            return true;
        }
        if (process_.read<uint32_t>(lock) != contended) {
            return false; // it gave it before, and took it again since: then it wakes nobody
        }
    }
    return false;
}

/// glibc's locks are not fair: a thread that takes one again as soon as it has given it back leaves it to nobody else, least of
/// all to a thread that comes to us at each of its calls. So whoever has it is held once it has given it back. Only a
/// pthread_mutex_t says whose it is; what other locks have in that place is no thread.
void StoppedThread::have_given(uintptr_t lock) {
    constexpr uintptr_t owner_in_lock = 8;
    const uint32_t word = process_.read<uint32_t>(lock).value_or(0);
    const int owner = process_.read<int>(lock + owner_in_lock).value_or(0);
    if (word != contended || (giver_ != nullptr && owner == 0)) {
        return; // it is free, or will not be given with a call that can be seen
    }
    giver_.reset();
    if (owner <= 0 || owner == id_ || !is_same_in_namespace(process_.id(), owner)) {
        return;
    }
    giver_ = std::make_unique<StoppedThread>(process_, owner);
    given_ = lock;
    if (giver_->stop() != Stop::stopped || giver_->is_interrupted_call() || !giver_->go_on_until_given(lock)) {
        giver_.reset();
    }
}

bool StoppedThread::go_to_call(const machine::Registers& registers, Clock::time_point until) {
    keep_state();
    return set(registers) && go_on_to_call(until);
}

long StoppedThread::call_system(uintptr_t instruction, long number, const machine::Arguments& arguments) {
    machine::Registers registers = before_;
    machine::call_system(registers, instruction, number, arguments);
    const Clock::time_point until = Clock::now() + call_limit;
    if (!go_to_call(registers, until) || !go_on_to_call(until) || !get(registers)) {
        return -EIO;
    }
    return static_cast<long>(machine::result(registers));
}

std::optional<uint64_t> StoppedThread::call_function(uintptr_t stub, uintptr_t stack_end, uintptr_t function,
                                                     const machine::Arguments& arguments) {
    machine::Registers registers = before_;
    machine::call_function(registers, stub, function, stack_end, arguments);
    const Clock::time_point latest = Clock::now() + lock_limit;
    Clock::time_point until = Clock::now() + call_limit;
    const uintptr_t end = stub + machine::stub.size();
    int n_waits = 0;
    for (bool there = go_to_call(registers, until); there; there = go_on_to_call(until)) {
        if (!get(registers)) {
            break;
        }
        const uintptr_t lock = lock_of(system_call_of(process_.id(), id_));
        if (lock != given_) {
            giver_.reset(); // it has it, or waits for another one
        }
        if (machine::place(registers) == end) {
            const uint64_t result = machine::function_result(registers);
            return go_on_to_call(until) ? std::optional(result) : std::nullopt;
        }
        n_waits = lock != 0 ? n_waits + 1 : 0;
        if (n_waits > few_waits) {
            have_given(lock);
            until = std::min(Clock::now() + call_limit, latest);
        }
    }
    giver_.reset();
    if (!gone_) { // it may wait for another thread: stop it where it is
        trace(PTRACE_INTERRUPT, id_, 0, 0);
        wait(Clock::now() + stop_limit);
    }
    return std::nullopt;
}

} // namespace schedscope
