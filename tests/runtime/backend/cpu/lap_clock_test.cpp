#include "runtime/backend/cpu/lap_clock.h"

#include "runtime/clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace schedscope::cpu {
namespace {

TEST(LapClock, TimesLieInOrderWithinTheTimeOfAllPieces) {
    const int64_t before = now_ns();
    const LapClock laps;
    std::vector<KernelTime> kernels;
    int64_t start = laps.begin();
    for (int32_t i = 0; i < 1000; ++i) {
        const int64_t end = LapClock::ticks();
        kernels.push_back({i, 1, "piece", start, end});
        start = end;
    }
    laps.to_ns(kernels);
    const int64_t after = now_ns();
    int64_t last = before;
    for (const KernelTime& kernel : kernels) {
        EXPECT_EQ(kernel.start_ns, &kernel == kernels.data() ? kernel.start_ns : last);
        EXPECT_GE(kernel.start_ns, last);
        EXPECT_GE(kernel.end_ns, kernel.start_ns);
        last = kernel.end_ns;
    }
    EXPECT_LE(last, after);
}

TEST(LapClock, APieceTakesItsShareOfTheTime) {
    const LapClock laps;
    const int64_t begin_ns = now_ns();
    const int64_t first = LapClock::ticks();
    while (now_ns() < begin_ns + 2'000'000) { // two milliseconds, whatever else runs
    }
    const int64_t second = LapClock::ticks();
    const int64_t end_ns = now_ns();
    std::vector<KernelTime> kernels{{0, 1, "long", first, second}, {1, 1, "none", second, second}};
    laps.to_ns(kernels);
    EXPECT_GE(kernels[0].end_ns - kernels[0].start_ns, 1'900'000);
    EXPECT_LE(kernels[0].end_ns, now_ns());
    EXPECT_LE(kernels[0].start_ns, end_ns);
    EXPECT_EQ(kernels[1].start_ns, kernels[1].end_ns);
}

} // namespace
} // namespace schedscope::cpu
