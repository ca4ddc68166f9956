#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace schedscope {

/// Whether whoever waits for something to be read wants it to stop. Any thread that reads may ask; the thread that waits looks after it.
class StopSignal {
public:
    /// From now on `look` is called by this thread now and then while it reads itself: true asks to stop.
    void look_by(std::function<bool()> look);
    /// What was asked is over: reading may begin again.
    void clear() noexcept { wanted_ = false; }
    bool wanted();

private:
    std::atomic<bool> wanted_ = false;
    std::atomic<std::thread::id> looker_{}; ///< by default nobody
    std::function<bool()> look_;            ///< the looker's alone
    int64_t looked_ns_ = 0;                 ///< the looker's alone
};

} // namespace schedscope
