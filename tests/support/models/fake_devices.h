#pragma once

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/device.h"
#include "runtime/backend/registry.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

/// Devices that can be planned for on any machine, with the abilities that the reference's devices had when its logs were
/// written. They run nothing.
namespace schedscope::test {

class FakeMemory final : public BufferType {
public:
    explicit FakeMemory(std::string name) : name_(std::move(name)) {}
    std::string_view name() const noexcept override { return name_; }
    bool is_host() const noexcept override { return false; }
    size_t alignment() const noexcept override { return 32; }
    size_t max_size() const noexcept override { return max; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override { return std::make_unique<Block>(*this, bytes); }

    size_t max = SIZE_MAX;

private:
    class Block final : public Buffer {
    public:
        Block(const BufferType& type, size_t size) : type_(type), data_(size) {}
        const BufferType& type() const noexcept override { return type_; }
        size_t size() const noexcept override { return data_.size(); }
        std::byte* host_base() noexcept override { return nullptr; }
        void write(size_t offset, const void* source, size_t bytes) override { std::memcpy(&data_.at(offset), source, bytes); }
        void read(size_t offset, void* target, size_t bytes) override { std::memcpy(target, &data_.at(offset), bytes); }
        void clear(uint8_t value) override { std::fill(data_.begin(), data_.end(), std::byte{value}); }

    private:
        const BufferType& type_;
        std::vector<std::byte> data_;
    };
    std::string name_;
};

class FakeDevice : public Device {
public:
    FakeDevice(std::string name, DeviceKind kind, const BufferType& type) : name_(std::move(name)), kind_(kind), type_(type) {}
    std::string_view name() const noexcept override { return name_; }
    DeviceKind kind() const noexcept override { return kind_; }
    std::string description() const override { return "made up"; }
    size_t memory_bytes() const override { return memory; }
    std::vector<std::string> features() const override { return {}; }
    const BufferType& buffer_type() const override { return type_; }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<Idle>(*this, options.name.empty() ? name_ : options.name);
    }
    size_t memory = 0;

private:
    class Idle final : public Backend {
    public:
        Idle(Device& device, std::string name) : device_(device), name_(std::move(name)) {}
        std::string_view name() const noexcept override { return name_; }
        Device& device() const noexcept override { return device_; }
        void compute(const SplitGraph&, int32_t, int32_t, KernelLog*) override { std::abort(); }

    private:
        Device& device_;
        std::string name_;
    };
    std::string name_;
    DeviceKind kind_;
    const BufferType& type_;
};

/// Runs every operator, in memory of its own, and takes over products of large batches.
class FakeGpu final : public FakeDevice {
public:
    explicit FakeGpu(const std::string& name) : FakeGpu(name, std::make_unique<FakeMemory>(name)) {}
    Answer supports_op(const Tensor& node) const override {
        return node.op == refused ? Answer::no(Refusal::op, "made up to refuse it") : Answer{};
    }
    bool supports_buffer_type(const BufferType& type) const override { return &type == memory_.get(); }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override { return offload_batch(node) >= min_batch; }
    FakeMemory& own_memory() noexcept { return *memory_; }

    Op refused = Op::count;

private:
    FakeGpu(const std::string& name, std::unique_ptr<FakeMemory> memory)
        : FakeDevice(name, DeviceKind::software, *memory), memory_(std::move(memory)) {}
    std::unique_ptr<FakeMemory> memory_;
};

/// Multiplies large dense matrices in the CPU's memory.
class FakeBlas final : public FakeDevice {
public:
    FakeBlas() : FakeDevice("BLAS", DeviceKind::blas, cpu_buffer_type()) {}
    Answer supports_op(const Tensor& node) const override {
        if (node.op == Op::NONE || is_view_op(node.op)) {
            return {};
        }
        if (node.op != Op::MUL_MAT) {
            return Answer::no(Refusal::op, "not a product");
        }
        const Tensor& a = *node.src[0];
        const Tensor& b = *node.src[1];
        const bool takes =
            is_contiguous(a) && is_contiguous(b) && b.type == Type::F32 && node.ne[0] >= 32 && node.ne[1] >= 32 && b.ne[0] >= 32;
        return takes ? Answer{} : Answer::no(Refusal::shape, "too small or not dense");
    }
    bool supports_buffer_type(const BufferType& type) const override { return type.is_host(); }
    bool wants_offload(const Tensor&, int64_t) const override { return false; }
};

} // namespace schedscope::test
