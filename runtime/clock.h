#pragma once

#include <chrono>
#include <cstdint>

namespace schedscope {

/// The one clock of all records: steady, nanoseconds.
inline int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace schedscope
