#pragma once

#include "traces/history/history.h"
#include "traces/history/lifetimes.h"

#include <map>
#include <vector>

namespace schedscope {

/// How many bytes of each buffer type's compute buffers are in use while a plan's nodes run.
class MemoryUse {
public:
    explicit MemoryUse(const PlanState& state);

    /// Buffer type → bytes while this tensor is computed; empty: it has no place of its own (a view, a cache).
    std::map<BufferTypeId, int64_t> at(TensorId tensor) const;
    std::vector<BufferTypeId> buffer_types() const;

private:
    std::map<BufferTypeId, std::vector<Lifetimes::Live>> live_;
    std::map<TensorId, int32_t> made_at_;
};

} // namespace schedscope
