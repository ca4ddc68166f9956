#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/scheduler/live_plan.h"

#include <memory>
#include <vector>

namespace schedscope {

/// The compute buffers of all buffer types, as the memory plan says: they only grow.
class ComputeBuffers {
public:
    /// described: they have sizes and no memory, for plans that are never run.
    explicit ComputeBuffers(bool described) : described_(described) {}
    /// Gives each chunk at least its planned size, each tensor of the plan its place, and each view its source's.
    /// Throws Error(device) when there is no memory: then nothing is placed.
    void assign(LivePlan& live, const MemoryPlan& memory, const LiveDevices& devices);
    std::vector<int64_t> bytes() const; ///< by buffer type id

private:
    bool described_;
    std::vector<std::vector<std::unique_ptr<Buffer>>> chunks_; ///< [buffer type][chunk]
    std::vector<std::vector<int64_t>> sizes_;                  ///< the same, as planned
};

} // namespace schedscope
