#include "runtime/backend/vulkan/loader.h"

#include <atomic>

#include <dlfcn.h>

namespace schedscope::vulkan {

namespace {

std::atomic<Interceptor> interceptor = nullptr;

} // namespace

void intercept_device_functions(Interceptor wanted) noexcept { interceptor = wanted; }

bool Loader::open(std::string& why) {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        why = "Vulkan: no loader (libvulkan.so.1); Debian has it as libvulkan1, a software driver as mesa-vulkan-drivers";
        return false;
    }
    vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    if (vkGetInstanceProcAddr == nullptr) {
        why = "Vulkan: libvulkan.so.1 has no vkGetInstanceProcAddr";
        return false;
    }
#define X(name) name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(VK_NULL_HANDLE, #name));
    SCHEDSCOPE_VULKAN_GLOBAL(X)
#undef X
    if (vkCreateInstance == nullptr || vkEnumerateInstanceVersion == nullptr) {
        why = "Vulkan: the loader knows only Vulkan 1.0; 1.1 is needed";
        return false;
    }
    return true;
}

void InstanceFunctions::load(const Loader& loader, VkInstance instance) {
#define X(name) name = reinterpret_cast<PFN_##name>(loader.vkGetInstanceProcAddr(instance, #name));
    SCHEDSCOPE_VULKAN_INSTANCE(X)
#undef X
}

void DeviceFunctions::load(PFN_vkGetDeviceProcAddr get, VkDevice device) {
    const Interceptor between = interceptor;
    const auto find = [&](const char* name) {
        const PFN_vkVoidFunction found = get(device, name);
        return between != nullptr && found != nullptr ? between(name, found) : found;
    };
#define X(name) name = reinterpret_cast<PFN_##name>(find(#name));
    SCHEDSCOPE_VULKAN_DEVICE(X)
#undef X
}

} // namespace schedscope::vulkan
