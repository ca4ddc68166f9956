#include "runtime/backend/cpu/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <new>
#include <numeric>
#include <set>

namespace schedscope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(ThreadPool, CallsTheWorkOnceForEachPart) {
    for (const int n : {1, 2, 3, 5}) {
        ThreadPool pool(n);
        EXPECT_EQ(pool.n_threads(), n);
        std::vector<std::atomic<int>> calls(static_cast<size_t>(n));
        pool.run(n, [&](int part) { ++calls[static_cast<size_t>(part)]; });
        for (const auto& c : calls) {
            EXPECT_EQ(c, 1);
        }
    }
}

TEST(ThreadPool, MakesAsManyPartsAsAreAskedFor) {
    ThreadPool pool(4);
    std::vector<int> calls(4);
    pool.run(3, [&](int part) { ++calls[static_cast<size_t>(part)]; });
    EXPECT_THAT(calls, ElementsAre(1, 1, 1, 0));
    pool.run(1, [&](int part) { ++calls[static_cast<size_t>(part)]; });
    EXPECT_THAT(calls, ElementsAre(2, 1, 1, 0));
}

TEST(ThreadPool, MakesMorePartsThanItHasThreads) {
    for (const int n : {0, 1, 2, 3}) { // a pool has one thread at least
        ThreadPool pool(n);
        EXPECT_EQ(pool.n_threads(), std::max(1, n));
        std::vector<std::atomic<int>> calls(100);
        pool.run(100, [&](int part) { ++calls[static_cast<size_t>(part)]; });
        for (const auto& c : calls) {
            EXPECT_EQ(c, 1);
        }
    }
}

/// Kernels have memory of their own, which a machine may refuse on any thread.
TEST(ThreadPool, ThrowsWhatAPartThrewWhenAllAreDone) {
    ThreadPool pool(3);
    for (int failing = 0; failing < 60; ++failing) {
        std::vector<std::atomic<int>> calls(60);
        const auto work = [&](int part) {
            ++calls[static_cast<size_t>(part)];
            if (part >= failing) {
                throw std::bad_alloc();
            }
        };
        EXPECT_THROW(pool.run(60, work), std::bad_alloc);
        for (const auto& c : calls) {
            EXPECT_EQ(c, 1);
        }
        std::atomic<int> sum{0};
        EXPECT_NO_THROW(pool.run(9, [&](int part) { sum += part; })) << "what was thrown once is gone";
        EXPECT_EQ(sum, 36);
    }
}

TEST(ThreadPool, RunsOnlyOnTheCallerAndItsOwnThreads) {
    ThreadPool pool(3);
    std::set<std::thread::id> ids;
    std::mutex mutex;
    for (int piece = 0; piece < 200; ++piece) {
        pool.run(3, [&](int) {
            const std::lock_guard lock(mutex);
            ids.insert(std::this_thread::get_id());
        });
    }
    EXPECT_LE(ids.size(), 3U);
}

// One part holds its thread up until the others are done, on whatever thread they are: no part waits for a thread that has
// not begun.
TEST(ThreadPool, DoesThePartsOfThreadsThatAreLate) {
    ThreadPool pool(3);
    std::atomic<int> done = 0;
    pool.run(3, [&](int part) {
        while (part == 0 && done < 2) {
            std::this_thread::yield();
        }
        ++done;
    });
    EXPECT_EQ(done, 3);
}

// What one piece of work wrote the next one reads, on whatever thread.
TEST(ThreadPool, FinishesEachOfManyPiecesBeforeTheNext) {
    constexpr int n_threads = 3;
    ThreadPool pool(n_threads);
    std::vector<int64_t> values(n_threads, 1);
    for (int piece = 0; piece < 5000; ++piece) {
        const int n = 1 + piece % n_threads;
        const int64_t sum = std::accumulate(values.begin(), values.end(), int64_t{0}) % 1000;
        pool.run(n, [&](int part) { values[static_cast<size_t>(part)] = sum + part; });
        for (int part = 0; part < n; ++part) {
            ASSERT_EQ(values[static_cast<size_t>(part)], sum + part) << "piece " << piece;
        }
    }
}

TEST(ThreadPool, WorksAgainAfterItsThreadsHaveGoneToSleep) {
    ThreadPool pool(3);
    std::vector<int> calls(3);
    for (int piece = 0; piece < 10; ++piece) {
        pool.run(3, [&](int part) {
            ++calls[static_cast<size_t>(part)];
            if (part == 2) { // the others wait for this one long enough to sleep
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

/// What the threads say that take n parts, each of which waits for all to begin: n threads are needed.
template <typename Say> auto said_by(ThreadPool& pool, int n, Say say) {
    std::vector<decltype(say())> said(static_cast<size_t>(n));
    std::atomic<int> begun = 0;
    pool.run(n, [&](int part) {
        ++begun;
        while (begun < n) {
            std::this_thread::yield();
        }
        said[static_cast<size_t>(part)] = say();
    });
    return said;
}

/// Threads that took any of many parts.
size_t n_taking_part(ThreadPool& pool) {
    std::set<std::thread::id> ids;
    std::mutex mutex;
    for (int piece = 0; piece < 200; ++piece) {
        pool.run(8, [&](int) {
            const std::lock_guard lock(mutex);
            ids.insert(std::this_thread::get_id());
        });
    }
    return ids.size();
}

TEST(ThreadPool, HasOtherThreadsForBatches) {
    ThreadPool pool(2, 4);
    EXPECT_EQ(pool.n_threads(), 4);
    for (int round = 0; round < 3; ++round) {
        pool.expect_batch(false);
        EXPECT_EQ(pool.n_active(), 2);
        EXPECT_LE(n_taking_part(pool), 2U);
        pool.expect_batch(true);
        EXPECT_EQ(pool.n_active(), 4);
        const auto ids = said_by(pool, 4, [] { return std::this_thread::get_id(); });
        EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4U);
    }
}

TEST(ThreadPool, MayHaveFewerThreadsForBatches) {
    ThreadPool pool(3, 1);
    EXPECT_EQ(pool.n_active(), 3);
    pool.expect_batch(true);
    EXPECT_EQ(n_taking_part(pool), 1U);
}

TEST(ThreadPool, StaysOnItsProcessors) {
    const ProcessorSet before = ProcessorSet::usable();
    for (int i = 0; i < ProcessorSet::most; ++i) {
        if (!before.has(i)) {
            continue;
        }
        const ProcessorSet one = ProcessorSet::of_range(std::to_string(i) + "-" + std::to_string(i));
        ThreadPool pool(3, 0, one);
        EXPECT_EQ(ProcessorSet::usable(), before) << "whoever starts them is let go";
        const BoundThread caller(pool.processors());
        EXPECT_THAT(said_by(pool, 3, ProcessorSet::usable), Each(one));
    }
    EXPECT_EQ(ProcessorSet::usable(), before);
}

} // namespace
} // namespace schedscope
