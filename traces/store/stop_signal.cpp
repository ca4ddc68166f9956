#include "traces/store/stop_signal.h"

#include "runtime/clock.h"

#include <utility>

namespace schedscope {

void StopSignal::look_by(std::function<bool()> look) {
    look_ = std::move(look);
    looker_ = look_ ? std::this_thread::get_id() : std::thread::id();
}

bool StopSignal::wanted() {
    constexpr int64_t between_looks_ns = 20'000'000; // too short to be noticed, and a look is a call into the system
    if (looker_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
        return false;
    }
    if (const int64_t now = now_ns(); now - looked_ns_ >= between_looks_ns) {
        looked_ns_ = now;
        wanted_ = wanted_ || look_();
    }
    return wanted_;
}

} // namespace schedscope
