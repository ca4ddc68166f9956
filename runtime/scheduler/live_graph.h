#pragma once

#include "runtime/backend/device.h"
#include "runtime/numbers.h"
#include "runtime/planner/capabilities.h"
#include "runtime/planner/records.h"
#include "runtime/tensor/graph.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace schedscope {

/// The backends of a run as the planner counts them: numbers for backends and buffer types, and who can use what.
class LiveDevices {
public:
    /// times: how closely their work is timed; absent: each kernel of those that work synchronously, each split of the others.
    LiveDevices(std::span<const std::unique_ptr<Backend>> backends, std::optional<KernelTimes> times = {});

    int n_backends() const noexcept { return n_of(backends_); }
    Backend& backend(BackendId id) const noexcept { return *backends_[id]; }
    const Device& device(BackendId id) const noexcept { return backend(id).device(); }
    bool is_host(BackendId id) const noexcept { return is_host(device(id)); } ///< works synchronously, in host memory
    KernelTimes kernel_times(BackendId id) const noexcept { return *session_.backends[id].kernel_times; }
    int n_buffer_types() const noexcept { return n_of(types_); }
    const BufferType& buffer_type(BufferTypeId id) const noexcept { return *types_[id]; }
    /// A type met for the first time gets the next number.
    BufferTypeId id_of(const BufferType& type);
    const SessionInfo& session() const noexcept { return session_; }
    SessionInfo& session() noexcept { return session_; }

private:
    static bool is_host(const Device& device) noexcept;

    std::vector<Backend*> backends_;
    std::vector<const BufferType*> types_;
    SessionInfo session_;
};

/// The planner's view of a live graph. Names point into the graph's tensors. Numbers the graph.
void describe(Graph& graph, LiveDevices& devices, OwnedGraph& out);

/// The backends' own answers about the tensors of one graph.
class LiveCapabilities final : public Capabilities {
public:
    LiveCapabilities(const LiveDevices& devices, std::span<Tensor* const> tensors, int64_t offload_min_batch)
        : devices_(devices), tensors_(tensors), offload_min_batch_(offload_min_batch) {}

    int n_backends() const noexcept override { return devices_.n_backends(); }
    BufferTypeId default_buffer_type(BackendId backend) const override;
    bool is_host(BufferTypeId type) const override;
    Answer supports_op(BackendId backend, TensorId tensor) const override;
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override;
    bool wants_offload(BackendId backend, TensorId tensor) const override;

private:
    const LiveDevices& devices_;
    std::span<Tensor* const> tensors_;
    int64_t offload_min_batch_;
};

} // namespace schedscope
