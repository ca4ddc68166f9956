#include "inspector/cli/output/interrupt.h"

#include "runtime/system/sanitizers.h"

#include <csignal>
#include <unistd.h>

namespace schedscope {

namespace {

std::atomic<bool> noted = false;
volatile std::sig_atomic_t code_at_exit = 0;
static_assert(std::atomic<bool>::is_always_lock_free); // so a signal handler may set it

void note(int signal) {
    if (noted.exchange(true)) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

} // namespace

void catch_interrupts() {
    struct sigaction action = {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // the reader has gone: a failed write, after which a trace is still closed properly
}

void bound_exit(int code) noexcept {
    constexpr unsigned seconds = 5;
    if (sanitized) {
        return; // what looks for leaks at the end takes its time
    }
    code_at_exit = code;
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(code_at_exit); };
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, nullptr);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    alarm(seconds);
}

const std::atomic<bool>& interrupt_flag() noexcept { return noted; }
bool interrupted() noexcept { return noted.load(std::memory_order_relaxed); }

} // namespace schedscope
