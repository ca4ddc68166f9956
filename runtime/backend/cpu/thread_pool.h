#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace schedscope {

/// Threads that run one piece of work together, again and again. Between pieces they spin for some microseconds (the next kernel is usually near), then sleep.
class ThreadPool {
public:
    /// n ≥ 1 threads take part; the caller of `run` is one of them.
    explicit ThreadPool(int n_threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int n_threads() const noexcept { return n_threads_; }
    /// Calls work(thread) on `n` threads (0 to n − 1, n at most n_threads()) and returns when all are done. `work` must not throw.
    template <typename Work> void run(int n, const Work& work) {
        run_task(n, {std::addressof(work), [](const void* w, int thread) { (*static_cast<const Work*>(w))(thread); }});
    }

private:
    /// A piece of work that lives with the caller of `run`: nothing is copied to the heap.
    struct Task {
        const void* work = nullptr;
        void (*call)(const void*, int) = nullptr;
        void operator()(int thread) const { call(work, thread); }
    };
    void run_task(int n, const Task& task);
    void loop(int thread);

    int n_threads_;
    std::vector<std::thread> threads_;
    Task task_;
    int active_ = 0;                      ///< threads that take part in the present piece
    std::atomic<uint32_t> generation_{0}; ///< counts pieces of work
    std::atomic<int> unfinished_{0};
    std::atomic<bool> stop_{false};
};

/// Processor cores, hyperthreads counted once, that this process may use.
int physical_cores();

} // namespace schedscope
