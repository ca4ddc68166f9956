#include "runtime/scheduler/live_graph.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

LiveDevices::LiveDevices(std::span<const std::unique_ptr<Backend>> backends, std::optional<KernelTimes> times) {
    for (const auto& backend : backends) {
        const Device& device = backend->device();
        backends_.push_back(backend.get());
        BackendInfo info;
        info.name = backend->name();
        info.device = device.name();
        info.kind = device_kind_name(device.kind());
        info.description = device.description();
        if (const size_t bytes = device.memory_bytes(); bytes > 0) {
            info.memory_bytes = bytes;
        }
        // Another device has to stop after each kernel that is timed.
        info.kernel_times = times.value_or(is_host(device) ? KernelTimes::kernels : KernelTimes::splits);
        info.keeps_order = backend->keeps_order();
        session_.backends.push_back(std::move(info));
    }
    for (size_t i = 0; i < backends_.size(); ++i) {
        const Device& device = backends_[i]->device();
        session_.backends[i].default_buffer_type = id_of(device.buffer_type());
        if (const BufferType* host = device.host_buffer_type()) {
            id_of(*host);
        }
    }
}

bool LiveDevices::is_host(const Device& device) noexcept {
    const DeviceKind kind = device.kind();
    return kind == DeviceKind::cpu || kind == DeviceKind::blas;
}

BufferTypeId LiveDevices::id_of(const BufferType& type) {
    const auto found = std::find(types_.begin(), types_.end(), &type);
    if (found != types_.end()) {
        return narrow<BufferTypeId>(found - types_.begin());
    }
    types_.push_back(&type);
    BufferTypeInfo info;
    info.name = type.name();
    info.is_host = type.is_host();
    info.alignment = type.alignment();
    info.max_size = type.max_size() > INT64_MAX ? -1 : type.max_size();
    session_.buffer_types.push_back(std::move(info));
    for (size_t b = 0; b < backends_.size(); ++b) {
        session_.backends[b].supports_buffer_type.push_back(backends_[b]->device().supports_buffer_type(type));
    }
    return narrow<BufferTypeId>(types_.size() - 1);
}

void describe(Graph& graph, LiveDevices& devices, OwnedGraph& out) {
    const std::span<Tensor* const> tensors = graph.number();
    out.clear();
    out.tensors.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& t = *tensors[i];
        TensorInfo& info = out.tensors[i];
        info.op = t.op;
        info.type = t.type;
        info.flags = t.flags;
        info.ne = t.ne;
        info.nb = t.nb;
        info.params = t.params;
        info.name = t.name;
        info.user_backend = t.pinned;
        info.role = t.role;
        info.layer = t.layer;
        info.view_offset = t.view_offset;
        if (t.view_source != nullptr) {
            info.view_source = t.view_source->id;
        } else if (t.buffer != nullptr) {
            info.buffer_type = devices.id_of(t.buffer->type());
            info.usage = t.buffer->usage;
        }
        for (size_t s = 0; s < t.src.size(); ++s) {
            info.src[s] = t.src[s] != nullptr ? t.src[s]->id : no_tensor;
        }
    }
    for (const Tensor* t : graph.leafs()) {
        out.leafs.push_back(t->id);
    }
    for (const Tensor* t : graph.nodes()) {
        out.nodes.push_back(t->id);
    }
}

BufferTypeId LiveCapabilities::default_buffer_type(BackendId backend) const {
    return devices_.session().backends[backend].default_buffer_type.value_or(no_buffer_type);
}

bool LiveCapabilities::is_host(BufferTypeId type) const { return devices_.session().buffer_types[type].is_host; }

Answer LiveCapabilities::supports_op(BackendId backend, TensorId tensor) const {
    return devices_.device(backend).supports_op(*tensors_[tensor]);
}

bool LiveCapabilities::supports_buffer_type(BackendId backend, BufferTypeId type) const {
    return devices_.session().backends[backend].supports_buffer_type[type] != 0;
}

bool LiveCapabilities::wants_offload(BackendId backend, TensorId tensor) const {
    return devices_.device(backend).wants_offload(*tensors_[tensor], offload_min_batch_);
}

} // namespace schedscope
