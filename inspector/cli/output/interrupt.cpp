#include "inspector/cli/output/interrupt.h"

#include "runtime/system/sanitizers.h"
#include "runtime/system/visible_text.h"

#include <csignal>
#include <unistd.h>

namespace schedscope {

namespace {

std::atomic<bool> noted = false;
volatile std::sig_atomic_t code_at_exit = 0;
static_assert(std::atomic<bool>::is_always_lock_free); // so a signal handler may set it

/// What a second one says of the trace that it leaves open; made before signals are caught, since a handler may make nothing, and
/// there until the process is gone.
struct OpenTrace {
    std::string log, left;
};
const OpenTrace* trace_left_open = nullptr;

void note(int signal) {
    if (noted.exchange(true)) {
        if (trace_left_open != nullptr && access(trace_left_open->log.c_str(), F_OK) == 0) {
            [[maybe_unused]] const auto written =
                write(STDERR_FILENO, trace_left_open->left.data(), trace_left_open->left.size());
        }
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

} // namespace

void catch_interrupts(const std::string& trace) {
    if (!trace.empty()) {
        const std::string log = trace + "-wal";
        trace_left_open = new OpenTrace{log, "schedscope: " + visible(trace) + ": was not closed; " + visible(log) +
                                                 " beside it belongs to it\n"};
    }
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
