#pragma once

#include "traces/attach/attach_control.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace schedscope {

/// Holds a recorded program at its stops (attach_control.h), and lets it pass them. The program goes on by itself when this
/// process is gone or is stopped itself: what it wants is renewed by a thread.
class ProgramHold {
public:
    explicit ProgramHold(attach::Control& control); ///< borrowed
    ~ProgramHold();                                 ///< lets it go
    ProgramHold(const ProgramHold&) = delete;
    ProgramHold& operator=(const ProgramHold&) = delete;

    /// From its next stop on it is held, or never. Any thread.
    void set(bool held);
    uint32_t n_stops() const;  ///< that it came to; what it sent before them is there
    void pass(uint32_t stops); ///< so many of them are over
    /// Until it comes to another stop than the so manieth, or so many ms have passed.
    void wait_for_stop(uint32_t behind, int timeout_ms) const;

private:
    void renew() const;

    attach::Control& control_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ends_ = false;
    std::thread renewer_;
};

} // namespace schedscope
