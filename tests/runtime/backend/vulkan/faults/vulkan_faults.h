#pragma once

#include "runtime/backend/vulkan/loader.h"

#include <cstddef>
#include <string_view>
#include <vector>

/// A Vulkan driver that fails when it is told to: stands between the program and the real one, on every device made while it
/// exists.
namespace schedscope::test {

class FaultyDriver {
public:
    FaultyDriver();
    ~FaultyDriver();
    FaultyDriver(const FaultyDriver&) = delete;
    FaultyDriver& operator=(const FaultyDriver&) = delete;

    /// Every function that the program calls and that can fail.
    static std::vector<std::string_view> functions();

    /// The nth call from now on (counted from 1) of the function fails with this result. VK_ERROR_DEVICE_LOST: and its device
    /// fails from then on wherever a device can be lost. What waits waits first: the work is done, but no caller learns it.
    void fail(std::string_view function, long nth, VkResult result);
    /// Memory can be allocated up to so many bytes, all together.
    void limit_memory(size_t bytes);
    /// No more faults; a lost device stays lost.
    void relent();

    /// Did the fault that was asked for last happen?
    bool failed() const;
    /// Calls of the function since `fail` or `relent`.
    long calls(std::string_view function) const;
    /// Of memory that was allocated and not freed.
    size_t live_bytes() const;
    size_t live_allocations() const;
};

} // namespace schedscope::test
