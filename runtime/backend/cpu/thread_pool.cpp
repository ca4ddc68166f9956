#include "runtime/backend/cpu/thread_pool.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace schedscope {

namespace {

constexpr int spins = 2000;

inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
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

ThreadPool::ThreadPool(int n_threads, int n_batch_threads, const ProcessorSet& processors)
    : n_single_(std::max(1, n_threads)), n_batch_(n_batch_threads > 0 ? n_batch_threads : n_single_),
      n_threads_(std::max(n_single_, n_batch_)), processors_(processors), active_(n_single_) {
    const BoundThread bound(processors_);              // threads begin where the one that starts them may run
    const auto fail = [this](const std::string& why) { // where memory or processes are limited
        end_threads();
        throw Error(ErrorKind::device, "CPU: thread " + std::to_string(threads_.size() + 1) + " of " +
                                           std::to_string(n_threads_) + " can't be started: " + why + ": ask for fewer (-t)");
    };
    try {
        threads_.reserve(n_threads_ - 1);
        for (int i = 1; i < n_threads_; ++i) {
            threads_.emplace_back([this, i] { loop(i); });
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
    active_ = n_threads_ + 1; // another value than any before
    active_.notify_all();
    for (std::thread& t : threads_) {
        t.join();
    }
}

void ThreadPool::expect_batch(bool batch) noexcept {
    active_.store(batch ? n_batch_ : n_single_, std::memory_order_release);
    active_.notify_all();
}

void ThreadPool::run_task(int n, const Task& task) {
    n = std::max(n, 1);
    if (n == 1 || active_ == 1) {
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
    while (run_part(0)) {}
    for (int left = unfinished_.load(std::memory_order_acquire); left != 0;) {
        left = wait_for_change(unfinished_, left);
    }
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

/// Whoever was late for one piece takes a part of the next, or finds that all are taken: between pieces there is none to take.
/// Who sees a piece's parts also sees how many threads were to take part in it.
bool ThreadPool::run_part(int index) {
    uint64_t parts = parts_.load(std::memory_order_acquire);
    do {
        if (static_cast<uint32_t>(parts) >= parts >> 32U || index >= active_.load(std::memory_order_relaxed)) {
            return false;
        }
    } while (!parts_.compare_exchange_weak(parts, parts + 1, std::memory_order_acquire));
    try {
        task_.call(task_.work, static_cast<uint32_t>(parts));
    } catch (...) { // out of a thread it would end the program, out of `run` it would end the work of other threads
        const std::lock_guard lock(failing_);
        failure_ = failure_ ? failure_ : std::current_exception();
    }
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        unfinished_.notify_all();
    }
    return true;
}

/// Whoever is not meant to take part sleeps until that changes: it takes no processor's time from those who do.
void ThreadPool::loop(int index) {
    uint32_t seen = 0;
    while (!stop_) {
        if (const int active = active_.load(std::memory_order_acquire); index >= active) {
            active_.wait(active, std::memory_order_acquire);
            continue;
        }
        seen = wait_for_change(generation_, seen);
        while (run_part(index)) {}
    }
}

int n_threads_of(const BackendOptions& options) {
    return options.n_threads > 0 ? options.n_threads : physical_cores(options.processors);
}

std::shared_ptr<ThreadPool> threads_of(const BackendOptions& options) {
    if (options.threads != nullptr) {
        return options.threads;
    }
    return std::make_shared<ThreadPool>(n_threads_of(options), options.n_threads_batch, options.processors);
}

} // namespace schedscope
