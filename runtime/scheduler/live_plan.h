#pragma once

#include "runtime/backend/backend.h"
#include "runtime/planner/memory/allocated_graph.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/live_graph.h"
#include "runtime/scheduler/node_observer.h"
#include "runtime/scheduler/watch.h"

#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

/// A plan with the tensors and buffers that it speaks of: what the steps after pass 5 share.
struct LivePlan {
    Graph* graph = nullptr; ///< null: nothing is planned
    OwnedGraph info;        ///< the graph as the planner saw it
    Plan plan;
    std::span<Tensor* const> tensors; ///< [plan.n_tensors] by id
    std::deque<Tensor> copies;        ///< [plan.copies] by index
    std::vector<SplitGraph> splits;   ///< [plan.splits] nodes in optimised order, with fused groups
    std::vector<TensorId> order;      ///< nodes in optimised order
    std::vector<KeptRange> kept;      ///< groups in it, and pairs that only a smaller batch would make groups
    std::vector<Tensor*> placed;      ///< tensors whose memory is the plan's: forgotten with it
    std::vector<TensorId> watched_leafs;
    /// Kernels that were recorded of a split, from the node on that the first of them begins with.
    struct KnownKernels {
        std::vector<KernelTime> ran; ///< as the backend told them
        std::shared_ptr<const KernelList> list;
    };
    struct SplitKernels {
        std::vector<KnownKernels> from; ///< [node]
        std::shared_ptr<const KernelList>
            all; ///< where none has a time of its own: what each run of the split runs; null: not known yet
    };
    std::vector<SplitKernels> kernels; ///< [plan.splits]
    bool watched = false;              ///< nodes are watched: they have flag_watched

    Tensor& tensor(TensorId id) noexcept { return id < plan.n_tensors ? *tensors[id] : copies[id - plan.n_tensors]; }
};

} // namespace schedscope
