#include "runtime/backend/vulkan/instance.h"

#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/error.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>

namespace schedscope {

namespace {

std::atomic<int> n_messages = 0;

} // namespace

int vulkan_validation_messages() noexcept { return n_messages; }

namespace vulkan {

namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL note_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
    ++n_messages;
    std::cerr << "vulkan validation: " << data->pMessage << '\n';
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = note_message;
    return info;
}

bool wants_validation(const Loader& loader) {
    const char* wanted = std::getenv("SCHEDSCOPE_VULKAN_VALIDATION");
    if (wanted == nullptr || std::strcmp(wanted, "1") != 0 || loader.vkEnumerateInstanceLayerProperties == nullptr) {
        return false;
    }
    uint32_t n = 0;
    loader.vkEnumerateInstanceLayerProperties(&n, nullptr);
    std::vector<VkLayerProperties> layers(n);
    loader.vkEnumerateInstanceLayerProperties(&n, layers.data());
    for (const VkLayerProperties& layer : layers) {
        if (std::strcmp(layer.layerName, validation_layer) == 0) {
            return true;
        }
    }
    ++n_messages; // asked for and not there: a test must not pass because of that
    std::cerr << "vulkan validation: the layer is not installed (vulkan-validationlayers)\n";
    return false;
}

} // namespace

std::string result_text(VkResult result) {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_DEVICE_LOST: return "the device was lost: try again, or without it (--device)";
    case VK_ERROR_INITIALIZATION_FAILED: return "the driver could not start";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "no driver was found";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "a feature is missing";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "an extension is missing";
    case VK_ERROR_TOO_MANY_OBJECTS: return "too many objects";
    case VK_ERROR_OUT_OF_POOL_MEMORY: return "a descriptor pool is full";
    default: return "Vulkan error " + std::to_string(result);
    }
}

void check(VkResult result, const std::string& what) {
    if (result < 0) {
        throw Error(ErrorKind::device, what + ": " + result_text(result));
    }
}

std::shared_ptr<Instance> Instance::create(std::string& why) {
    // One for the whole process, never given back: with the last instance the loader takes the drivers out of memory, whose own
    // threads and exit handlers may still run, and a tool that looks for leaks could no longer name them.
    static std::mutex mutex;
    static auto* const kept = new std::shared_ptr<Instance>;
    const std::lock_guard lock(mutex);
    if (*kept == nullptr) {
        *kept = make(why);
    }
    return *kept;
}

std::shared_ptr<Instance> Instance::make(std::string& why) {
    std::shared_ptr<Instance> made(new Instance);
    if (!made->loader_.open(why)) {
        return nullptr;
    }
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = "schedscope";
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    constexpr std::array extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
    // A software driver computes right without barriers, so only the layer can see that one is missing.
    constexpr VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features{};
    features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    features.pNext = &messenger;
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = &synchronization;
    const bool validation = wants_validation(made->loader_);
    if (validation) {
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &validation_layer;
        info.enabledExtensionCount = extensions.size();
        info.ppEnabledExtensionNames = extensions.data();
    }
    const VkResult result = made->loader_.vkCreateInstance(&info, nullptr, &made->instance_);
    if (result != VK_SUCCESS) {
        made->instance_ = VK_NULL_HANDLE;
        why = "Vulkan: " + result_text(result);
        return nullptr;
    }
    made->functions_.load(made->loader_, made->instance_);
    if (validation) {
        check(made->functions_.vkCreateDebugUtilsMessengerEXT(made->instance_, &messenger, nullptr, &made->messenger_),
              "Vulkan messenger");
    }
    return made;
}

Instance::~Instance() {
    if (messenger_ != VK_NULL_HANDLE) {
        functions_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
    }
    if (instance_ != VK_NULL_HANDLE) {
        functions_.vkDestroyInstance(instance_, nullptr);
    }
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
    uint32_t n = 0;
    if (functions_.vkEnumeratePhysicalDevices(instance_, &n, nullptr) != VK_SUCCESS) {
        return {};
    }
    std::vector<VkPhysicalDevice> devices(n);
    functions_.vkEnumeratePhysicalDevices(instance_, &n, devices.data());
    devices.resize(n);
    return devices;
}

} // namespace vulkan

} // namespace schedscope
