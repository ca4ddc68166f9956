#include "runtime/backend/cpu/thread_pool.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <fstream>
#include <new>
#include <set>
#include <string>
#include <system_error>

#include <sched.h>

namespace schedscope {

namespace {

constexpr int spins = 2000;

inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Waits until the value is another one.
template <typename T> T wait_for_change(const std::atomic<T>& value, T old) {
    for (int i = 0; i < spins; ++i) {
        const T now = value.load(std::memory_order_acquire);
        if (now != old) {
            return now;
        }
        relax();
    }
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

} // namespace

ThreadPool::ThreadPool(int n_threads) : n_threads_(std::max(1, n_threads)) {
    const auto fail = [this](const std::string& why) { // where memory or processes are limited
        end_threads();
        throw Error(ErrorKind::device, "CPU: thread " + std::to_string(threads_.size() + 1) + " of " +
                                           std::to_string(n_threads_) + " can't be started: " + why + ": ask for fewer (-t)");
    };
    try {
        threads_.reserve(n_threads_ - 1);
        for (int i = 1; i < n_threads_; ++i) {
            threads_.emplace_back([this] { loop(); });
        }
    } catch (const std::system_error& error) {
        fail(error.code().message());
    } catch (const std::bad_alloc&) {
        fail("out of memory");
    }
}

ThreadPool::~ThreadPool() { end_threads(); }

void ThreadPool::end_threads() {
    stop_ = true;
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    for (std::thread& t : threads_) {
        t.join();
    }
}

void ThreadPool::run_task(int n, const Task& task) {
    n = std::max(n, 1);
    if (n == 1 || n_threads_ == 1) {
        for (int part = 0; part < n; ++part) {
            task.call(task.work, part);
        }
        return;
    }
    task_ = task;
    unfinished_.store(n, std::memory_order_relaxed);
    parts_.store(uint64_t(n) << 32U, std::memory_order_release);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    while (run_part()) {}
    for (int left = unfinished_.load(std::memory_order_acquire); left != 0;) {
        left = wait_for_change(unfinished_, left);
    }
}

/// Whoever was late for one piece takes a part of the next, or finds that all are taken: between pieces there is none to take.
bool ThreadPool::run_part() {
    uint64_t parts = parts_.load(std::memory_order_acquire);
    do {
        if (static_cast<uint32_t>(parts) >= parts >> 32U) {
            return false;
        }
    } while (!parts_.compare_exchange_weak(parts, parts + 1, std::memory_order_acquire));
    task_.call(task_.work, static_cast<uint32_t>(parts));
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        unfinished_.notify_all();
    }
    return true;
}

void ThreadPool::loop() {
    uint32_t seen = 0;
    while (true) {
        seen = wait_for_change(generation_, seen);
        if (stop_) {
            return;
        }
        while (run_part()) {}
    }
}

int physical_cores() {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) {
        return std::max(1, int_of(std::thread::hardware_concurrency()));
    }
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &mine)) {
            continue;
        }
        std::string siblings;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
        std::getline(file, siblings);
        cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
    }
    return std::max(1, n_of(cores));
}

} // namespace schedscope
