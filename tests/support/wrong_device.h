#pragma once

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/device.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace schedscope::test {

/// A device that computes as the CPU does, until something is done to a result.
class WrongDevice final : public Device {
public:
    /// `spoil` gets each node once it was computed.
    explicit WrongDevice(std::function<void(const Tensor&)> spoil) : cpu_(make_cpu_device()), spoil_(std::move(spoil)) {}

    std::string_view name() const noexcept override { return "Wrong"; }
    DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
    std::string description() const override { return "a CPU that is wrong"; }
    size_t memory_bytes() const override { return 0; }
    std::vector<std::string> features() const override { return {}; }
    const BufferType& buffer_type() const override { return cpu_->buffer_type(); }
    Answer supports_op(const Tensor& node) const override {
        return node.op == refused ? Answer::no(Refusal::op, "made up to refuse it") : cpu_->supports_op(node);
    }
    bool supports_buffer_type(const BufferType& type) const override { return cpu_->supports_buffer_type(type); }
    bool wants_offload(const Tensor&, int64_t) const override { return false; }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<Queue>(*this, cpu_->make_backend(options));
    }

    Op refused = Op::count;  ///< says that it doesn't run it
    Op left_out = Op::count; ///< says that it does, and does nothing

private:
    class Queue final : public Backend {
    public:
        Queue(WrongDevice& device, std::unique_ptr<Backend> cpu) : device_(device), cpu_(std::move(cpu)) {}
        std::string_view name() const noexcept override { return "Wrong"; }
        Device& device() const noexcept override { return device_; }
        void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override {
            for (int32_t i = first; i < first + count; ++i) {
                const Tensor& node = *split.nodes[static_cast<size_t>(i)];
                if (node.op != device_.left_out) {
                    cpu_->compute(split, i, 1, log);
                    device_.spoil_(node);
                }
            }
        }

    private:
        WrongDevice& device_;
        std::unique_ptr<Backend> cpu_;
    };
    std::unique_ptr<Device> cpu_;
    std::function<void(const Tensor&)> spoil_;
};

} // namespace schedscope::test
