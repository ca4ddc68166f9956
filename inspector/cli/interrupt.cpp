#include "inspector/cli/interrupt.h"

#include <csignal>

namespace schedscope {

namespace {

std::atomic<bool> noted = false;
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
    std::signal(SIGPIPE, SIG_IGN); // nobody reads any more: a failed write, after which a trace is still closed properly
}

const std::atomic<bool>& interrupt_flag() noexcept { return noted; }
bool interrupted() noexcept { return noted.load(std::memory_order_relaxed); }

} // namespace schedscope
