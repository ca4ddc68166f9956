#pragma once

#include "runtime/backend/vulkan/loader.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::vulkan {

/// The connection to the drivers. With SCHEDSCOPE_VULKAN_VALIDATION=1 in the environment the validation layer is on, missing
/// barriers included; its messages go to stderr and are counted (vulkan_validation_messages).
class Instance {
public:
    /// The process's one instance; null, and why, when there is no loader or no driver.
    static std::shared_ptr<Instance> create(std::string& why);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    const InstanceFunctions& f() const noexcept { return functions_; }
    std::vector<VkPhysicalDevice> physical_devices() const;

private:
    Instance() = default;
    static std::shared_ptr<Instance> make(std::string& why);

    Loader loader_;
    InstanceFunctions functions_;
    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

/// "out of device memory", "device lost", …
std::string result_text(VkResult result);
/// Throws Error(device) "WHAT: WHY" unless it is a success.
void check(VkResult result, const std::string& what);

} // namespace schedscope::vulkan
