#include "inspector/cli/progress_line.h"

#include "runtime/clock.h"

#include <iostream>
#include <unistd.h>

namespace schedscope {

ProgressLine::ProgressLine() : on_(isatty(STDERR_FILENO) == 1), begin_ns_(now_ns()) {}

void ProgressLine::say(const std::string& what) {
    what_ = what;
    tick();
}

void ProgressLine::tick() {
    const int64_t seconds = (now_ns() - begin_ns_) / 1'000'000'000;
    if (on_ && seconds > 0 && !what_.empty() && (seconds != shown_s_ || !drawn_)) {
        draw(seconds);
    }
}

void ProgressLine::draw(int64_t seconds) {
    std::cerr << "\r\x1b[K" << what_ << " … " << seconds << " s" << std::flush;
    shown_s_ = seconds;
    drawn_ = true;
}

void ProgressLine::clear() {
    if (drawn_) {
        std::cerr << "\r\x1b[K" << std::flush;
        drawn_ = false;
    }
}

} // namespace schedscope
