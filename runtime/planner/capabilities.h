#pragma once

#include "runtime/planner/answer.h"
#include "runtime/planner/graph_view.h"

namespace schedscope {

/// The three questions of the scheduler about the graph being planned. Whoever answers knows the graph: live backends, a trace, a
/// device table, a corpus case. Answers stay the same while a plan is made.
class Capabilities {
public:
    virtual ~Capabilities() = default;
    virtual int n_backends() const noexcept = 0;
    virtual BufferTypeId default_buffer_type(BackendId backend) const = 0;    ///< two backends may share one
    virtual bool is_host(BufferTypeId type) const = 0;                        ///< the CPU computes on it directly
    virtual Answer supports_op(BackendId backend, TensorId tensor) const = 0; ///< a no carries its reason
    virtual bool supports_buffer_type(BackendId backend, BufferTypeId type) const = 0;
    /// Would like to take the node over although its weight lies in host memory; supports_op is asked apart.
    virtual bool wants_offload(BackendId backend, TensorId tensor) const = 0;
};

} // namespace schedscope
