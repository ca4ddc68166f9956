#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <string>
#include <string_view>

namespace schedscope::vulkan {

// The functions that are used, by the object they are looked up with.
// clang-format off
#define SCHEDSCOPE_VULKAN_GLOBAL(X) \
    X(vkCreateInstance) \
    X(vkEnumerateInstanceVersion) \
    X(vkEnumerateInstanceLayerProperties)
#define SCHEDSCOPE_VULKAN_INSTANCE(X) \
    X(vkDestroyInstance) \
    X(vkEnumeratePhysicalDevices) \
    X(vkGetPhysicalDeviceProperties2) \
    X(vkGetPhysicalDeviceFeatures2) \
    X(vkGetPhysicalDeviceMemoryProperties) \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkCreateDevice) \
    X(vkGetDeviceProcAddr) \
    X(vkEnumerateDeviceExtensionProperties) \
    X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT) \
    X(vkCreateDebugUtilsMessengerEXT) \
    X(vkDestroyDebugUtilsMessengerEXT)
#define SCHEDSCOPE_VULKAN_DEVICE(X) \
    X(vkDestroyDevice) \
    X(vkGetDeviceQueue) \
    X(vkDeviceWaitIdle) \
    X(vkQueueSubmit) \
    X(vkCreateBuffer) \
    X(vkDestroyBuffer) \
    X(vkGetBufferMemoryRequirements) \
    X(vkAllocateMemory) \
    X(vkFreeMemory) \
    X(vkBindBufferMemory) \
    X(vkMapMemory) \
    X(vkCreateShaderModule) \
    X(vkDestroyShaderModule) \
    X(vkCreateDescriptorSetLayout) \
    X(vkDestroyDescriptorSetLayout) \
    X(vkCreatePipelineLayout) \
    X(vkDestroyPipelineLayout) \
    X(vkCreateComputePipelines) \
    X(vkDestroyPipeline) \
    X(vkCreateDescriptorPool) \
    X(vkDestroyDescriptorPool) \
    X(vkResetDescriptorPool) \
    X(vkAllocateDescriptorSets) \
    X(vkUpdateDescriptorSets) \
    X(vkCreateCommandPool) \
    X(vkDestroyCommandPool) \
    X(vkResetCommandPool) \
    X(vkResetCommandBuffer) \
    X(vkAllocateCommandBuffers) \
    X(vkBeginCommandBuffer) \
    X(vkEndCommandBuffer) \
    X(vkCmdBindPipeline) \
    X(vkCmdBindDescriptorSets) \
    X(vkCmdPushConstants) \
    X(vkCmdDispatch) \
    X(vkCmdPipelineBarrier) \
    X(vkCmdCopyBuffer) \
    X(vkCmdFillBuffer) \
    X(vkCmdResetQueryPool) \
    X(vkCmdWriteTimestamp) \
    X(vkCreateQueryPool) \
    X(vkDestroyQueryPool) \
    X(vkGetQueryPoolResults) \
    X(vkCreateFence) \
    X(vkDestroyFence) \
    X(vkResetFences) \
    X(vkWaitForFences) \
    X(vkGetFenceStatus) \
    X(vkGetCalibratedTimestampsEXT)
// clang-format on

/// The Vulkan loader, opened when the program runs: it starts and works without.
struct Loader {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
#define X(name) PFN_##name name = nullptr;
    SCHEDSCOPE_VULKAN_GLOBAL(X)
#undef X

    /// False, and why as a sentence for people.
    bool open(std::string& why);
};

struct InstanceFunctions {
#define X(name) PFN_##name name = nullptr;
    SCHEDSCOPE_VULKAN_INSTANCE(X)
#undef X
    void load(const Loader& loader, VkInstance instance);
};

/// For tests of faults: is shown every function of a device that is made from now on, and says what is called in its place. Null,
/// as at first: nothing does.
using Interceptor = PFN_vkVoidFunction (*)(std::string_view name, PFN_vkVoidFunction found);
void intercept_device_functions(Interceptor interceptor) noexcept;

struct DeviceFunctions {
#define X(name) PFN_##name name = nullptr;
    SCHEDSCOPE_VULKAN_DEVICE(X)
#undef X
    void load(PFN_vkGetDeviceProcAddr get, VkDevice device);
};

} // namespace schedscope::vulkan
