#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace schedscope {

/// Whether whoever waits for something to be read wants it to stop. Only the thread that waits is ever told so: others have work
/// of their own to do.
class StopSignal {
public:
    /// From now on `look` is called by this thread now and then while it reads itself: true asks to stop.
    void look_by(std::function<bool()> look);
    /// What was asked is over: reading may begin again.
    void clear() noexcept { wanted_ = false; }
    bool wanted(); ///< asked by any thread that reads

private:
    std::atomic<std::thread::id> looker_{}; ///< by default none
    // The looker's alone:
    std::function<bool()> look_;
    bool wanted_ = false;
    int64_t looked_ns_ = 0;
};

} // namespace schedscope
