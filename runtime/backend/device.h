#pragma once

#include "runtime/backend/backend.h"
#include "runtime/backend/buffer.h"
#include "runtime/backend/processors.h"
#include "runtime/backend/products.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/planner/answer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

enum class DeviceKind : uint8_t { gpu, cpu, blas, software }; ///< software: a Vulkan driver that runs on the CPU

/// "gpu" "cpu" "blas" "software".
constexpr std::string_view device_kind_name(DeviceKind kind) noexcept {
    constexpr std::string_view names[] = {"gpu", "cpu", "blas", "software"};
    return names[ordinal(kind)];
}

class ThreadPool;

struct BackendOptions {
    int n_threads = 0;                  ///< CPU and BLAS; 0: physical cores
    bool fusion = true;                 ///< false: optimise() finds no groups
    std::string name;                   ///< shown name when it differs from the device's ("Vulkan0.1")
    Products products = Products::int8; ///< CPU
    int n_threads_batch = 0;            ///< CPU and BLAS, in evaluations of several tokens; 0: as many
    ProcessorSet processors = {};       ///< that CPU and BLAS compute on; of none: any
    /// Of CPU and BLAS, who then never compute on more threads together than one of them; null: own ones as said above.
    std::shared_ptr<ThreadPool> threads = {};
};

/// Hardware (or a library) that was found, and the three questions about it. Const and thread-safe.
class Device {
public:
    virtual ~Device() = default;
    virtual std::string_view name() const noexcept = 0; ///< "CPU", "BLAS", "Vulkan0"
    virtual DeviceKind kind() const noexcept = 0;
    virtual std::string description() const = 0;
    /// What a user of it should know although it works, one sentence; empty: nothing.
    virtual std::string caveat() const { return {}; }
    virtual size_t memory_bytes() const = 0;                               ///< total; 0: unknown
    virtual std::vector<std::string> features() const = 0;                 ///< for people: "avx512vnni", "fp16", "subgroup 8"
    virtual const BufferType& buffer_type() const = 0;                     ///< the default one
    virtual const BufferType* host_buffer_type() const { return nullptr; } ///< host memory the device reads fast, if it has any
    /// Memory that lays weights of matrix products out for the device's arithmetic; null: it has none for such weights.
    virtual const BufferType* repack_buffer_type(Type /*type*/, const Shape& /*ne*/) const { return nullptr; }

    /// Can a backend of this device run the operator with these types, shapes, layouts and sources? Leafs (NONE) and view ops are
    /// asked too. Does not depend on where the data lies.
    virtual Answer supports_op(const Tensor& node) const = 0;
    virtual bool supports_buffer_type(const BufferType& type) const = 0;
    /// Worth copying a host weight over for? batch: the operator's batch size counted as in `offload_batch`.
    virtual bool wants_offload(const Tensor& node, int64_t min_batch) const = 0;

    /// The same hardware as a device of its own, with its own memory, as if there were two of it. Null: its memory is the host's,
    /// and more backends of this one will do.
    virtual std::unique_ptr<Device> another(const std::string& /*name*/) const { return nullptr; }

    /// A queue on the device. Throws Error(device) when it can't be made.
    virtual std::unique_ptr<Backend> make_backend(const BackendOptions& options) = 0;
};

/// See catalogue.h.
inline int64_t offload_batch(const Tensor& node) noexcept { return offload_batch(node.op, node.ne); }

} // namespace schedscope
