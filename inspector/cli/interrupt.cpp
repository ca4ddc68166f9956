#include "inspector/cli/interrupt.h"

#include <csignal>

namespace schedscope {

namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) {
    if (noted != 0) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    noted = 1;
}

} // namespace

void catch_interrupts() {
    struct sigaction action = {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return noted != 0; }

} // namespace schedscope
