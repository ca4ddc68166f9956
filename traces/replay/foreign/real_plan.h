#pragma once

#include "runtime/planner/records.h"

#include <vector>

namespace schedscope {

/// A copy as another program calls it: of which tensor, where, for which stage (−1: not known, or the only one).
struct RealCopy {
    TensorId of = no_tensor;
    BackendId backend = no_backend;
    int32_t stage = -1;
};

/// What another program's scheduler decided for one graph, as far as it was seen. Backends and buffer types are the session's.
struct RealPlan {
    struct Assigned {
        TensorId tensor = no_tensor;
        BackendId backend = no_backend;
    };
    struct Part {                             ///< a split
        BackendId backend = no_backend;       ///< none: it has views only, and is not known
        int32_t first_node = 0, end_node = 0; ///< indices into the graph's nodes
        std::vector<TensorId> inputs;
    };
    struct Source { ///< that reads a copy now
        TensorId node = no_tensor;
        int32_t slot = 0;
        RealCopy copy;
    };
    struct Place {
        TensorId tensor = no_tensor; ///< none: the copy
        RealCopy copy;
        BufferTypeId buffer_type = no_buffer_type;
        int32_t chunk = 0;
        int64_t offset = 0, size = 0; ///< size: −1: not known
    };
    struct KeptAlive {
        TensorId node = no_tensor, tensor = no_tensor; ///< no tensor: the copy
        RealCopy copy;
    };
    struct Printed { ///< a cause that the scheduler printed
        TensorId tensor = no_tensor;
        Cause cause = Cause::none;
        int8_t source = -1;
    };
    std::vector<Assigned> assigned;
    std::vector<Part> splits;
    std::vector<Source> sources;
    std::vector<Place> places;   ///< none: memory was not watched from its birth
    bool planned_memory = false; ///< memory was planned or made for it; somebody watches that from its birth
    std::vector<KeptAlive> kept;
    std::vector<TensorId> order; ///< by place among the nodes: which backends moved there; none: that which was there
    std::vector<Printed> causes;

    bool empty() const noexcept { return assigned.empty() && splits.empty(); }
};

} // namespace schedscope
