#pragma once

#include "runtime/backend/device.h"
#include "tests/support/random/simulated_memory.h"

#include <random>
#include <set>

namespace schedscope::test {

/// How much of its queue a device works off without being told to: nothing, all at once, or what chance gives.
enum class Diligence : uint8_t { lazy, eager, random };

/// What a simulated device is. Answers depend on nothing but the node asked about.
struct DeviceTraits {
    std::string name;
    DeviceKind kind = DeviceKind::gpu; ///< cpu and blas work synchronously; the others have a queue
    std::set<Op> refuses;
    std::set<std::pair<Op, Type>> refuses_types; ///< operator and type of source 0
    int64_t most_elements = INT64_MAX;           ///< larger results are refused
    bool offloads = false;
    bool copies_on_queue = true;
    bool has_events = true;
    bool reorders = false;
    Diligence diligence = Diligence::lazy;
};

/// A device that computes with the CPU's kernels, in memory of its own. What is given to its queue is done when somebody waits
/// for it and not before, so that a wait that is missing is a wrong result, and always the same one.
class SimulatedDevice final : public Device {
public:
    SimulatedDevice(DeviceTraits traits, const BufferType& memory, std::set<const BufferType*> uses, Watch& watch, uint32_t seed);

    std::string_view name() const noexcept override { return traits_.name; }
    DeviceKind kind() const noexcept override { return traits_.kind; }
    std::string description() const override { return "simulated"; }
    size_t memory_bytes() const override { return 0; }
    std::vector<std::string> features() const override { return {}; }
    const BufferType& buffer_type() const override { return memory_; }
    Answer supports_op(const Tensor& node) const override;
    bool supports_buffer_type(const BufferType& type) const override { return uses_.contains(&type); }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override;
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override;

    const DeviceTraits& traits() const noexcept { return traits_; }
    DeviceTraits& change() noexcept { return traits_; }
    bool works_at_once() const noexcept { return traits_.kind == DeviceKind::cpu || traits_.kind == DeviceKind::blas; }

private:
    class Queue;
    DeviceTraits traits_;
    const BufferType& memory_;
    std::set<const BufferType*> uses_;
    Watch& watch_;
    uint32_t seed_;
    std::mt19937 random_;
    std::unique_ptr<Device> engine_;
};

} // namespace schedscope::test
