#pragma once

#include "runtime/backend/processors.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace schedscope {

/// Threads that run one piece of work together, again and again. Between pieces they spin for some microseconds (the next kernel
/// is usually near), then sleep. No thread waits for one that has not begun: its part is taken by one that runs, so that a
/// machine with other work to do costs what that work takes, not more.
class ThreadPool {
public:
    /// n ≥ 1 threads take part, or in batches n_batch_threads (0: as many); the caller of `run` is one of them. They stay on the
    /// processors, if there are any; a caller binds itself (BoundThread). Throws Error(device) when the system starts no more.
    explicit ThreadPool(int n_threads, int n_batch_threads = 0, const ProcessorSet& processors = {});
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int n_threads() const noexcept { return n_threads_; }                             ///< at most
    int n_active() const noexcept { return active_.load(std::memory_order_relaxed); } ///< that take part now
    const ProcessorSet& processors() const noexcept { return processors_; }
    /// From here on the threads for batches take part, or those for single tokens, as at first. Between pieces of work.
    void expect_batch(bool batch) noexcept;
    /// Calls work(part) for parts 0 to n − 1 (at least one), each on the thread that is free first, and returns when all are
    /// done. A thread may get several parts, one after the other. What a part throws (a kernel's own memory may be refused),
    /// `run` throws then: of several the first.
    template <typename Work> void run(int n, const Work& work) {
        run_task(n, {std::addressof(work), [](const void* w, int part) { (*static_cast<const Work*>(w))(part); }});
    }

private:
    void end_threads();
    /// A piece of work that lives with the caller of `run`: nothing is copied to the heap.
    struct Task {
        const void* work = nullptr;
        void (*call)(const void*, int part) = nullptr;
    };
    void run_task(int n, const Task& task);
    void loop(int index);
    bool run_part(int index); ///< of a thread; false: there is none to take

    int n_single_, n_batch_, n_threads_;
    ProcessorSet processors_;
    std::vector<std::thread> threads_;
    Task task_;                           ///< read by those who took a part: until it is done, `run` doesn't return
    std::atomic<uint64_t> parts_{0};      ///< of the present piece: taken (low half) of so many (high half)
    std::atomic<uint32_t> generation_{0}; ///< counts pieces of work
    std::atomic<int> unfinished_{0};      ///< parts
    std::atomic<int> active_;             ///< threads that take part: the caller and those numbered below
    std::atomic<bool> stop_{false};
    std::mutex failing_;
    std::exception_ptr failure_; ///< of the present piece: what a part threw first
};

struct BackendOptions;
/// As many as the options say, or as the machine (or the processors named) has cores.
int n_threads_of(const BackendOptions& options);
/// The threads that a backend is to share with others, or own ones as its options say.
std::shared_ptr<ThreadPool> threads_of(const BackendOptions& options);

} // namespace schedscope
