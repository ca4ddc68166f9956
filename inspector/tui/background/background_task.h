#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace schedscope::tui {

/// A descriptor that becomes readable when it is rung, until that was seen.
class Bell {
public:
    Bell(); ///< throws Error(device) when the system has none left
    ~Bell();
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;

    void ring() noexcept;
    void seen() noexcept;
    int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

/// Work on a thread of its own, one piece at a time: the keyboard is never left waiting. Asked to stop when the object goes.
template <typename Result> class BackgroundTask {
public:
    struct Outcome {
        std::optional<Result> result; ///< nothing: it failed or was stopped
        std::string error;            ///< why it failed
        bool stopped = false;         ///< it had been asked to stop before it was done
    };

    ~BackgroundTask() {
        stop();
        if (running()) {
            worker_.join();
        }
    }
    /// Only while none runs. `work` ends soon, by any exception, when it is asked to stop.
    void start(std::function<Result(std::stop_token)> work) {
        worker_ = std::jthread([this, work = std::move(work)](std::stop_token stop) {
            try {
                outcome_.result = work(std::move(stop));
            } catch (const std::exception& error) {
                outcome_.error = error.what();
            }
            done_.ring();
        });
    }
    void stop() noexcept { worker_.request_stop(); }
    bool running() const noexcept { return worker_.joinable(); }
    bool stopping() const noexcept { return worker_.get_stop_token().stop_requested(); }
    /// Readable when it is done.
    int descriptor() const noexcept { return done_.descriptor(); }
    /// After that: what it came to.
    Outcome finish() {
        done_.seen();
        outcome_.stopped = stopping();
        worker_.join();
        worker_ = {};
        return std::exchange(outcome_, {});
    }

private:
    Bell done_;
    Outcome outcome_; ///< the worker's until it is joined
    std::jthread worker_;
};

} // namespace schedscope::tui
