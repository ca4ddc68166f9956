#include "inspector/cli/output/progress_line.h"

#include "inspector/cli/output/standard_streams.h"
#include "runtime/clock.h"
#include "runtime/system/number_words.h"

#include <iostream>
#include <unistd.h>

namespace schedscope {

ProgressLine::ProgressLine() : on_(isatty(STDERR_FILENO) == 1), begin_ns_(now_ns()) {}

void ProgressLine::say(const std::string& what) {
    what_ = what;
    tick();
}

void ProgressLine::say(const std::string& what, int64_t done_bytes, int64_t of_bytes) {
    say(what + ", " + words::memory(done_bytes) + " of " + words::memory(of_bytes));
}

void ProgressLine::tick() {
    const int64_t seconds = (now_ns() - begin_ns_) / 1'000'000'000;
    if (on_ && seconds > 0 && !what_.empty() && (seconds != shown_s_ || !drawn_)) {
        draw(seconds);
    }
}

void ProgressLine::draw(int64_t seconds) {
    erase_terminal_line();
    std::cerr << what_ << " … " << seconds << " s" << std::flush;
    shown_s_ = seconds;
    drawn_ = true;
}

void ProgressLine::clear() {
    if (drawn_) {
        erase_terminal_line();
        drawn_ = false;
    }
}

} // namespace schedscope
