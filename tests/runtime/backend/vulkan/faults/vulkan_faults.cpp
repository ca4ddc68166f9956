#include "tests/runtime/backend/vulkan/faults/vulkan_faults.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

namespace schedscope::test {

namespace {

#define FALLIBLE(X)                                                                                                              \
    X(vkDeviceWaitIdle)                                                                                                          \
    X(vkQueueSubmit)                                                                                                             \
    X(vkCreateBuffer)                                                                                                            \
    X(vkAllocateMemory)                                                                                                          \
    X(vkBindBufferMemory)                                                                                                        \
    X(vkMapMemory)                                                                                                               \
    X(vkCreateShaderModule)                                                                                                      \
    X(vkCreateDescriptorSetLayout)                                                                                               \
    X(vkCreatePipelineLayout)                                                                                                    \
    X(vkCreateComputePipelines)                                                                                                  \
    X(vkCreateDescriptorPool)                                                                                                    \
    X(vkAllocateDescriptorSets)                                                                                                  \
    X(vkCreateCommandPool)                                                                                                       \
    X(vkResetCommandPool)                                                                                                        \
    X(vkAllocateCommandBuffers)                                                                                                  \
    X(vkBeginCommandBuffer)                                                                                                      \
    X(vkEndCommandBuffer)                                                                                                        \
    X(vkCreateQueryPool)                                                                                                         \
    X(vkGetQueryPoolResults)                                                                                                     \
    X(vkCreateFence)                                                                                                             \
    X(vkResetFences)                                                                                                             \
    X(vkWaitForFences)                                                                                                           \
    X(vkGetFenceStatus)

enum Function : size_t {
#define X(name) number_of_##name,
    FALLIBLE(X)
#undef X
        n_functions
};
constexpr std::array<std::string_view, n_functions> names = {
#define X(name) #name,
    FALLIBLE(X)
#undef X
};

bool can_lose_device(size_t f) {
    return f == number_of_vkDeviceWaitIdle || f == number_of_vkQueueSubmit || f == number_of_vkWaitForFences ||
           f == number_of_vkGetFenceStatus || f == number_of_vkGetQueryPoolResults;
}
bool waits(size_t f) { return f == number_of_vkDeviceWaitIdle || f == number_of_vkWaitForFences; }

struct {
    std::mutex mutex;
    std::array<long, n_functions> calls{};
    size_t failing = n_functions; ///< n_functions: none
    long nth = 0;
    VkResult result = VK_SUCCESS;
    bool failed = false;
    size_t limit = SIZE_MAX, live_bytes = 0;
    std::map<VkDeviceMemory, size_t> live;
    std::map<VkQueue, VkDevice> device_of;
    std::set<VkDevice> lost;
} state;

VkDevice device_of(VkDevice device) { return device; }
VkDevice device_of(VkQueue queue) { return state.device_of[queue]; }
VkDevice device_of(VkCommandBuffer) { return VK_NULL_HANDLE; }

/// VK_SUCCESS: this call is to be made.
VkResult fault_of(size_t f, VkDevice device) {
    const std::lock_guard lock(state.mutex);
    const bool now = ++state.calls[f] == state.nth && state.failing == f;
    if (now) {
        state.failed = true;
        if (state.result == VK_ERROR_DEVICE_LOST) {
            state.lost.insert(device);
        }
        return state.result;
    }
    return can_lose_device(f) && state.lost.contains(device) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

template <size_t F, typename T> struct Between;
template <size_t F, typename First, typename... Rest> struct Between<F, VkResult(VKAPI_PTR*)(First, Rest...)> {
    static inline VkResult(VKAPI_PTR* real)(First, Rest...) = nullptr;
    static VKAPI_ATTR VkResult VKAPI_CALL call(First first, Rest... rest) {
        const VkResult fault = fault_of(F, device_of(first));
        const bool goes_on = fault == VK_SUCCESS || waits(F);
        const VkResult result = goes_on ? real(first, rest...) : fault;
        return fault == VK_SUCCESS ? result : fault;
    }
};

using Allocate = Between<number_of_vkAllocateMemory, PFN_vkAllocateMemory>;
VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                                        VkDeviceMemory* memory) {
    {
        const std::lock_guard lock(state.mutex);
        if (state.live_bytes + info->allocationSize > state.limit) {
            state.failed = true;
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
    }
    const VkResult result = Allocate::call(device, info, callbacks, memory);
    if (result == VK_SUCCESS) {
        const std::lock_guard lock(state.mutex);
        state.live[*memory] = info->allocationSize;
        state.live_bytes += info->allocationSize;
    }
    return result;
}

PFN_vkFreeMemory real_free = nullptr;
VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
    {
        const std::lock_guard lock(state.mutex);
        const auto found = state.live.find(memory);
        if (found != state.live.end()) {
            state.live_bytes -= found->second;
            state.live.erase(found);
        }
    }
    real_free(device, memory, callbacks);
}

PFN_vkGetDeviceQueue real_queue = nullptr;
VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue* queue) {
    real_queue(device, family, index, queue);
    const std::lock_guard lock(state.mutex);
    state.device_of[*queue] = device;
    state.lost.erase(device); // a new device where a lost one was
}

PFN_vkVoidFunction stand_between(std::string_view name, PFN_vkVoidFunction found) {
#define X(function)                                                                                                              \
    if (name == #function) {                                                                                                     \
        using Stand = Between<number_of_##function, PFN_##function>;                                                             \
        Stand::real = reinterpret_cast<PFN_##function>(found);                                                                   \
        return number_of_##function == number_of_vkAllocateMemory ? reinterpret_cast<PFN_vkVoidFunction>(allocate)               \
                                                                  : reinterpret_cast<PFN_vkVoidFunction>(Stand::call);           \
    }
    FALLIBLE(X)
#undef X
    if (name == "vkFreeMemory") {
        real_free = reinterpret_cast<PFN_vkFreeMemory>(found);
        return reinterpret_cast<PFN_vkVoidFunction>(free_memory);
    }
    if (name == "vkGetDeviceQueue") {
        real_queue = reinterpret_cast<PFN_vkGetDeviceQueue>(found);
        return reinterpret_cast<PFN_vkVoidFunction>(get_queue);
    }
    return found;
}

size_t number_of(std::string_view function) {
    const auto found = std::find(names.begin(), names.end(), function);
    if (found == names.end()) {
        throw std::runtime_error(std::string(function) + " is not one that can fail");
    }
    return static_cast<size_t>(found - names.begin());
}

void set_fault(size_t function, long nth, VkResult result, size_t limit) {
    const std::lock_guard lock(state.mutex);
    state.calls.fill(0);
    state.failing = function;
    state.nth = nth;
    state.result = result;
    state.failed = false;
    state.limit = limit;
}

} // namespace

FaultyDriver::FaultyDriver() { vulkan::intercept_device_functions(stand_between); }
FaultyDriver::~FaultyDriver() {
    relent();
    vulkan::intercept_device_functions(nullptr);
}

std::vector<std::string_view> FaultyDriver::functions() { return {names.begin(), names.end()}; }

void FaultyDriver::fail(std::string_view function, long nth, VkResult result) {
    set_fault(number_of(function), nth, result, SIZE_MAX);
}
void FaultyDriver::limit_memory(size_t bytes) { set_fault(n_functions, 0, VK_SUCCESS, bytes); }
void FaultyDriver::relent() { set_fault(n_functions, 0, VK_SUCCESS, SIZE_MAX); }

bool FaultyDriver::failed() const {
    const std::lock_guard lock(state.mutex);
    return state.failed;
}
long FaultyDriver::calls(std::string_view function) const {
    const std::lock_guard lock(state.mutex);
    return state.calls[number_of(function)];
}
size_t FaultyDriver::live_bytes() const {
    const std::lock_guard lock(state.mutex);
    return state.live_bytes;
}
size_t FaultyDriver::live_allocations() const {
    const std::lock_guard lock(state.mutex);
    return state.live.size();
}

} // namespace schedscope::test
