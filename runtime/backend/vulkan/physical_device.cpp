#include "runtime/backend/vulkan/context.h"
#include "runtime/letter_case.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace schedscope::vulkan {

namespace {

bool find_queue(const Instance& instance, PhysicalDevice& d) {
    uint32_t n = 0;
    instance.f().vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &n, nullptr);
    std::vector<VkQueueFamilyProperties> families(n);
    instance.f().vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &n, families.data());
    for (uint32_t i = 0; i < n; ++i) {
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            d.queue_family = i;
            d.timestamp_bits = families[i].timestampValidBits;
            return true;
        }
    }
    return false;
}

void examine_memory(PhysicalDevice& d) {
    constexpr VkMemoryPropertyFlags both =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < d.memory.memoryHeapCount; ++i) {
        if ((d.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
            d.memory_bytes += d.memory.memoryHeaps[i].size;
        }
    }
    for (uint32_t i = 0; i < d.memory.memoryTypeCount; ++i) {
        d.unified_memory = d.unified_memory || (d.memory.memoryTypes[i].propertyFlags & both) == both;
    }
}

/// Can it read its own clock and the host's steady one in one moment?
bool reads_clocks(const Instance& instance, VkPhysicalDevice handle) {
    uint32_t n = 0;
    instance.f().vkEnumerateDeviceExtensionProperties(handle, nullptr, &n, nullptr);
    std::vector<VkExtensionProperties> extensions(n);
    instance.f().vkEnumerateDeviceExtensionProperties(handle, nullptr, &n, extensions.data());
    const bool has = std::any_of(extensions.begin(), extensions.end(), [](const VkExtensionProperties& e) {
        return std::strcmp(e.extensionName, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) == 0;
    });
    if (!has || instance.f().vkGetPhysicalDeviceCalibrateableTimeDomainsEXT == nullptr) {
        return false;
    }
    instance.f().vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(handle, &n, nullptr);
    std::vector<VkTimeDomainEXT> domains(n);
    instance.f().vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(handle, &n, domains.data());
    const auto knows = [&](VkTimeDomainEXT domain) { return std::find(domains.begin(), domains.end(), domain) != domains.end(); };
    return knows(VK_TIME_DOMAIN_DEVICE_EXT) && knows(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
}

} // namespace

std::optional<PhysicalDevice> examine(const Instance& instance, VkPhysicalDevice handle, std::string& why) {
    PhysicalDevice d;
    d.handle = handle;
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceMaintenance3Properties limits{};
    limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
    VkPhysicalDeviceSubgroupProperties subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    limits.pNext = &subgroup;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &limits;
    instance.f().vkGetPhysicalDeviceProperties2(handle, &properties);
    if (properties.properties.apiVersion >= VK_API_VERSION_1_2) { // the driver's name is known from 1.2 on
        subgroup.pNext = &driver;
        instance.f().vkGetPhysicalDeviceProperties2(handle, &properties);
    }
    const VkPhysicalDeviceProperties& p = properties.properties;
    d.name = p.deviceName;
    d.driver = driver.driverName;
    if (p.apiVersion < VK_API_VERSION_1_1) {
        why = "Vulkan: " + d.name + " knows only Vulkan 1.0; 1.1 is needed";
        return std::nullopt;
    }
    const bool reduces = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                         (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
    if (!reduces || p.limits.maxComputeWorkGroupInvocations < 256 || p.limits.maxComputeWorkGroupSize[0] < 256) {
        why = "Vulkan: " + d.name + " can't run workgroups of 256 with sums over subgroups";
        return std::nullopt;
    }
    VkPhysicalDevice16BitStorageFeatures storage{};
    storage.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &storage;
    instance.f().vkGetPhysicalDeviceFeatures2(handle, &features);
    instance.f().vkGetPhysicalDeviceMemoryProperties(handle, &d.memory);
    if (!find_queue(instance, d)) {
        why = "Vulkan: " + d.name + " has no compute queue";
        return std::nullopt;
    }
    examine_memory(d);
    // A discrete device may show all of its memory to the host, but reading it through the bus is slow.
    d.unified_memory = d.unified_memory && p.deviceType != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    d.software = p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    d.reads_clocks = d.timestamp_bits > 0 && reads_clocks(instance, handle);
    const char* wish = std::getenv("SCHEDSCOPE_VULKAN_LIKE_HARDWARE");
    const bool like_hardware = wish != nullptr && std::strcmp(wish, "1") == 0; // a software driver as a discrete device
    d.barriers_are_dear = d.software && !like_hardware;
    d.unified_memory = d.unified_memory && !like_hardware;
    d.timestamp_ns = p.limits.timestampPeriod;
    d.buffer_alignment = std::max<size_t>(static_cast<size_t>(p.limits.minStorageBufferOffsetAlignment), 32);
    d.max_allocation = limits.maxMemoryAllocationSize;
    d.subgroup_size = subgroup.subgroupSize;
    d.max_bindings = p.limits.maxPerStageDescriptorStorageBuffers;
    d.features.storage_16bit = storage.storageBuffer16BitAccess == VK_TRUE;
    // A tensor that begins inside an aligned window needs the window's rest as well.
    d.features.max_storage_range = p.limits.maxStorageBufferRange - 2 * largest_alignment;
    return d;
}

std::string device_words(const std::string& name, const std::string& driver) {
    return driver.empty() || has_ignoring_case(name, driver) ? name : name + ", " + driver;
}

} // namespace schedscope::vulkan
