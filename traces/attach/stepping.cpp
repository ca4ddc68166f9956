#include "traces/attach/stepping.h"

#include "traces/attach/handing_on.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace schedscope::attach {

namespace {

/// A recorder that is gone does not take back that it holds: then the program goes on by itself.
bool is_held(const Control& control) {
    return __atomic_load_n(&control.hold, __ATOMIC_ACQUIRE) != 0 &&
           now_ns() - __atomic_load_n(&control.renewed_ns, __ATOMIC_ACQUIRE) < hold_limit_ns;
}

/// Null: nothing is held now.
Control* holder() {
    Control* const control = is_open() ? attachment().control : nullptr;
    return control != nullptr && is_held(*control) ? control : nullptr;
}

void futex(uint32_t* word, int operation, uint32_t value, const timespec* limit) {
    syscall(SYS_futex, word, operation, value, limit, nullptr, 0);
}

void wait_at_a_stop(Control& control) {
    const uint32_t own = __atomic_add_fetch(&control.stops, 1, __ATOMIC_SEQ_CST);
    futex(&control.stops, FUTEX_WAKE, INT32_MAX, nullptr);
    while (is_held(control) && is_open()) { // a recorder that dies is seen at once
        const uint32_t granted = __atomic_load_n(&control.granted, __ATOMIC_ACQUIRE);
        if (static_cast<int32_t>(granted - own) >= 0) {
            return;
        }
        const timespec look_again = {0, 250'000'000};
        futex(&control.granted, FUTEX_WAIT, granted, &look_again);
    }
}

} // namespace

void stop_before_plan(Scheduler& scheduler) {
    if (Control* const control = holder()) {
        end_evaluation(scheduler, 0); // the next plan would
        wait_at_a_stop(*control);
    }
}

void stop_before_split(RunCall& call) {
    if (call.is_waiting || !call.before_split) {
        return;
    }
    call.before_split = false;
    stop_in_run(call);
}

void stop_in_run(RunCall& call) {
    if (Control* const control = holder()) {
        send_run(call);
        const int64_t start = now_ns();
        wait_at_a_stop(*control);
        record_hold(call, {start, now_ns()});
    }
}

} // namespace schedscope::attach
