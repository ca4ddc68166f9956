#include "runtime/backend/cpu/cpu_device.h"

#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/system/memory_limit.h"

#include <fstream>

namespace schedscope {

namespace {

class CpuDevice final : public Device {
public:
    std::string_view name() const noexcept override { return "CPU"; }
    DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
    std::string description() const override { return processor_name() + ", " + std::to_string(physical_cores()) + " cores"; }
    size_t memory_bytes() const override { return static_cast<size_t>(usable_memory()); }
    std::vector<std::string> features() const override {
        std::vector<std::string> names;
        for (const VectorOps* ops : usable_vector_ops()) {
            names.emplace_back(ops->name);
        }
        return names;
    }
    const BufferType& buffer_type() const override { return cpu_buffer_type(); }
    const BufferType* repack_buffer_type(Type type, const Shape& ne) const override {
        return can_be_repacked(type, ne) ? &cpu_repack_buffer_type() : nullptr;
    }
    Answer supports_op(const Tensor& node) const override { return cpu::supports_op(node); }
    bool supports_buffer_type(const BufferType& type) const override {
        return type.is_host() || &type == &cpu_repack_buffer_type();
    }
    bool wants_offload(const Tensor&, int64_t) const override { return false; }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<cpu::CpuBackend>(*this, options, best_vector_ops());
    }
};

} // namespace

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) {
            const size_t colon = line.find(": ");
            return colon == std::string::npos ? line : line.substr(colon + 2);
        }
    }
    return "processor";
}

bool may_lay_out(const BackendOptions& options) noexcept { return multiplies_laid_out(options.products, best_vector_ops()); }

std::string_view cpu_instructions() noexcept { return best_vector_ops().name; }

std::unique_ptr<Device> make_cpu_device() {
    require_known_settings();
    return std::make_unique<CpuDevice>();
}

} // namespace schedscope
