// A Vulkan device that is not here: the answers of our shaders, memory that has a size and nothing else.

#include "runtime/backend/vulkan/vulkan.h"

#include "runtime/backend/described_buffer.h"
#include "runtime/backend/vulkan/vulkan_backend.h"
#include "runtime/error.h"

namespace schedscope {

namespace vulkan {

namespace {

class DescribedBufferType final : public BufferType {
public:
    explicit DescribedBufferType(std::string name) : name_(std::move(name)) {}
    std::string_view name() const noexcept override { return name_; }
    bool is_host() const noexcept override { return false; }
    size_t alignment() const noexcept override { return smallest_alignment; }
    size_t max_size() const noexcept override { return SIZE_MAX; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override { return std::make_unique<DescribedBuffer>(*this, bytes); }

private:
    static constexpr size_t smallest_alignment = 32; ///< of buffers on any of our Vulkan devices
    std::string name_;
};

class DescribedBackend final : public Backend {
public:
    DescribedBackend(Device& device, const BackendOptions& options)
        : device_(device), name_(options.name.empty() ? std::string(device.name()) : options.name), fusion_(options.fusion) {}
    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    void optimise(SplitGraph& split) override {
        if (fusion_) {
            optimise_split(split, full_dispatch_options(false));
        }
    }
    void compute(const SplitGraph&, int32_t, int32_t, KernelLog*) override {
        throw Error(ErrorKind::usage, name_ + ": the device was only described, it computes nothing");
    }

private:
    Device& device_;
    std::string name_;
    bool fusion_;
};

class DescribedDevice final : public Device {
public:
    DescribedDevice(std::string name, size_t memory_bytes) : name_(std::move(name)), memory_bytes_(memory_bytes), type_(name_) {}

    std::string_view name() const noexcept override { return name_; }
    DeviceKind kind() const noexcept override { return DeviceKind::gpu; }
    std::string description() const override { return "described: Vulkan with all features"; }
    size_t memory_bytes() const override { return memory_bytes_; }
    std::vector<std::string> features() const override { return {"described", "all"}; }
    const BufferType& buffer_type() const override { return type_; }
    Answer supports_op(const Tensor& node) const override { return vulkan_supports_op(features_, node); }
    bool supports_buffer_type(const BufferType& type) const override { return &type == &type_; }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override { return offload_batch(node) >= min_batch; }
    std::unique_ptr<Device> another(const std::string& name) const override {
        return std::make_unique<DescribedDevice>(name, memory_bytes_);
    }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<DescribedBackend>(*this, options);
    }

private:
    std::string name_;
    size_t memory_bytes_;
    VulkanFeatures features_ = all_vulkan_features();
    DescribedBufferType type_;
};

} // namespace

} // namespace vulkan

std::unique_ptr<Device> describe_vulkan_device(std::string name, size_t memory_bytes) {
    return std::make_unique<vulkan::DescribedDevice>(std::move(name), memory_bytes);
}

} // namespace schedscope
