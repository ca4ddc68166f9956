#include "runtime/backend/cpu/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace schedscope {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(ThreadPool, CallsTheWorkOnceOnEachThread) {
    for (const int n : {1, 2, 3, 5}) {
        ThreadPool pool(n);
        EXPECT_EQ(pool.n_threads(), n);
        std::vector<std::atomic<int>> calls(static_cast<size_t>(n));
        pool.run(n, [&](int thread) { ++calls[static_cast<size_t>(thread)]; });
        for (const auto& c : calls) {
            EXPECT_EQ(c, 1);
        }
    }
}

TEST(ThreadPool, UsesAsManyThreadsAsAreAskedFor) {
    ThreadPool pool(4);
    std::vector<int> calls(4);
    pool.run(3, [&](int thread) { ++calls[static_cast<size_t>(thread)]; });
    EXPECT_THAT(calls, ElementsAre(1, 1, 1, 0));
    pool.run(1, [&](int thread) { ++calls[static_cast<size_t>(thread)]; });
    EXPECT_THAT(calls, ElementsAre(2, 1, 1, 0));
}

TEST(ThreadPool, TakesImpossibleCountsAsTheNearestPossibleOnes) {
    ThreadPool none(0);
    EXPECT_EQ(none.n_threads(), 1);
    ThreadPool pool(2);
    std::atomic<int> calls = 0;
    pool.run(100, [&](int) { ++calls; });
    EXPECT_EQ(calls, 2);
    pool.run(-1, [&](int) { ++calls; });
    EXPECT_EQ(calls, 3);
}

TEST(ThreadPool, RunsThreadZeroOnTheCaller) {
    ThreadPool pool(3);
    std::vector<std::thread::id> ids(3);
    pool.run(3, [&](int thread) { ids[static_cast<size_t>(thread)] = std::this_thread::get_id(); });
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 3U);
}

// What one piece of work wrote the next one reads, on whatever thread.
TEST(ThreadPool, FinishesEachOfManyPiecesBeforeTheNext) {
    constexpr int n_threads = 3;
    ThreadPool pool(n_threads);
    std::vector<int64_t> values(n_threads, 1);
    for (int piece = 0; piece < 5000; ++piece) {
        const int n = 1 + piece % n_threads;
        const int64_t sum = std::accumulate(values.begin(), values.end(), int64_t{0}) % 1000;
        pool.run(n, [&](int thread) { values[static_cast<size_t>(thread)] = sum + thread; });
        for (int thread = 0; thread < n; ++thread) {
            ASSERT_EQ(values[static_cast<size_t>(thread)], sum + thread) << "piece " << piece;
        }
    }
}

TEST(ThreadPool, WorksAgainAfterItsThreadsHaveGoneToSleep) {
    ThreadPool pool(3);
    std::vector<int> calls(3);
    for (int piece = 0; piece < 10; ++piece) {
        pool.run(3, [&](int thread) {
            ++calls[static_cast<size_t>(thread)];
            if (thread == 2) { // the others wait for this one long enough to sleep
                volatile int64_t count = 0;
                while (count < 1'000'000) {
                    count = count + 1;
                }
            }
        });
    }
    EXPECT_THAT(calls, Each(10));
}

TEST(ThreadPool, CanBeMadeAndLeftWithoutWork) {
    for (int i = 0; i < 200; ++i) {
        ThreadPool pool(3);
    }
}

TEST(ThreadPool, CountsAtLeastOneCore) { EXPECT_GE(physical_cores(), 1); }

} // namespace
} // namespace schedscope
