#pragma once

#include "traces/history/history.h"

#include <map>
#include <vector>

namespace schedscope {

/// How many bytes of each buffer type's compute buffers are in use while a plan's nodes run.
class MemoryUse {
public:
    explicit MemoryUse(const PlanState& state);

    /// Buffer type → bytes while this tensor is computed; null: it has no place of its own (a view, a cache).
    const std::map<BufferTypeId, int64_t>* at(TensorId tensor) const;
    std::vector<BufferTypeId> buffer_types() const;

private:
    std::map<int32_t, std::map<BufferTypeId, int64_t>> live_; ///< by index into the allocated graph, where something changes
    std::map<TensorId, int32_t> made_at_;
};

} // namespace schedscope
