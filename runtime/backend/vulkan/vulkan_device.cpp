#include "runtime/backend/vulkan/vulkan.h"

#include "runtime/backend/vulkan/memory.h"
#include "runtime/backend/vulkan/vulkan_backend.h"

#include <mutex>

namespace schedscope {

namespace vulkan {

namespace {

class VulkanDevice final : public Device {
public:
    VulkanDevice(std::shared_ptr<Instance> instance, PhysicalDevice physical, std::string name)
        : instance_(std::move(instance)), physical_(std::move(physical)), name_(std::move(name)),
          own_(name_, MemoryKind::device, physical_.buffer_alignment, largest_buffer(), [this] { return context(); }),
          host_(name_ + "_Host", MemoryKind::host, physical_.buffer_alignment, largest_buffer(), [this] { return context(); }) {}

    std::string_view name() const noexcept override { return name_; }
    DeviceKind kind() const noexcept override { return physical_.software ? DeviceKind::software : DeviceKind::gpu; }
    std::string description() const override { return device_words(physical_.name, physical_.driver); }
    size_t memory_bytes() const override { return physical_.memory_bytes; }
    std::vector<std::string> features() const override {
        std::vector<std::string> names;
        if (physical_.features.storage_16bit) {
            names.emplace_back("16-bit storage");
        }
        names.push_back("subgroup " + std::to_string(physical_.subgroup_size));
        names.push_back("storage range " + std::to_string(physical_.features.max_storage_range >> 20U) + " MiB");
        if (physical_.timestamp_bits > 0) {
            names.emplace_back("timestamps");
        }
        if (physical_.unified_memory) {
            names.emplace_back("unified memory");
        }
        return names;
    }
    const BufferType& buffer_type() const override { return own_; }
    const BufferType* host_buffer_type() const override { return &host_; }
    Answer supports_op(const Tensor& node) const override { return vulkan_supports_op(physical_.features, node); }
    bool supports_buffer_type(const BufferType& type) const override { return &type == &own_; }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override { return offload_batch(node) >= min_batch; }
    std::unique_ptr<Device> another(const std::string& name) const override {
        return std::make_unique<VulkanDevice>(instance_, physical_, name);
    }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<VulkanBackend>(*this, context(), options);
    }

private:
    size_t largest_buffer() const noexcept { return physical_.max_allocation != 0 ? physical_.max_allocation : SIZE_MAX; }
    std::shared_ptr<Context> context() {
        const std::lock_guard lock(mutex_);
        if (context_ == nullptr || context_->is_lost()) { // who still uses a lost one keeps it until the end
            context_ = std::make_shared<Context>(instance_, physical_, name_);
        }
        return context_;
    }

    std::shared_ptr<Instance> instance_;
    PhysicalDevice physical_;
    std::string name_;
    std::mutex mutex_;
    std::shared_ptr<Context> context_;
    VulkanBufferType own_, host_;
};

} // namespace

} // namespace vulkan

std::vector<std::unique_ptr<Device>> find_vulkan_devices(std::vector<std::string>& missing) {
    std::vector<std::unique_ptr<Device>> devices;
    std::string why;
    const std::shared_ptr<vulkan::Instance> instance = vulkan::Instance::create(why);
    if (instance == nullptr) {
        missing.push_back(why);
        return devices;
    }
    for (VkPhysicalDevice handle : instance->physical_devices()) {
        if (const auto physical = vulkan::examine(*instance, handle, why)) {
            devices.push_back(
                std::make_unique<vulkan::VulkanDevice>(instance, *physical, "Vulkan" + std::to_string(devices.size())));
        } else {
            missing.push_back(why);
        }
    }
    if (devices.empty() && why.empty()) {
        missing.emplace_back("Vulkan: the loader found no device");
    }
    return devices;
}

} // namespace schedscope
