#include "runtime/backend/cpu/lap_clock.h"

#include "runtime/clock.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace schedscope::cpu {

namespace {

/// Linux takes the counter for its clock only where it runs at one rate, never stops and is the same on all processors.
bool kernel_trusts_counter() {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    return file >> source && source == "tsc";
}

} // namespace

int64_t LapClock::ticks() noexcept {
#if defined(__x86_64__)
    static const bool trusted = kernel_trusts_counter();
    return trusted ? static_cast<int64_t>(__rdtsc()) : now_ns();
#else
    return now_ns();
#endif
}

/// The clock is read between two readings of the counter. If something else ran meanwhile, they lie apart, and it is tried again.
LapClock::Reading LapClock::read_both() noexcept {
    constexpr int64_t close = 1000;
    constexpr int most_tries = 8;
    Reading best;
    int64_t apart = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < most_tries && apart > close; ++i) {
        const int64_t before = ticks();
        const int64_t ns = now_ns();
        const int64_t after = ticks();
        if (after - before < apart) {
            apart = after - before;
            best = {before + apart / 2, ns};
        }
    }
    return best;
}

void LapClock::to_ns(std::span<KernelTime> kernels) const noexcept {
    const Reading end = read_both();
    const int64_t ticks = end.ticks - begin_.ticks;
    const double rate = ticks > 0 ? to_double(end.ns - begin_.ns) / to_double(ticks) : 0;
    const auto ns = [&](int64_t at) {
        return std::clamp(begin_.ns + static_cast<int64_t>(to_double(at - begin_.ticks) * rate), begin_.ns, end.ns);
    };
    for (KernelTime& kernel : kernels) {
        kernel.start_ns = ns(kernel.start_ns);
        kernel.end_ns = ns(kernel.end_ns);
    }
}

} // namespace schedscope::cpu
