#pragma once

#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "runtime/tensor/tensor.h"

#include <span>
#include <string>
#include <string_view>

namespace schedscope {

struct LivePlan;
struct SplitGraph;
class LiveDevices;

/// What is known of a tensor of a plan before anything runs.
struct WatchCandidate {
    const Tensor& tensor;
    std::string_view backend; ///< name; empty: none
    std::string cause;        ///< "1.wgt0"
    int32_t split = -1;       ///< that runs it; −1: a leaf
    int32_t node = -1;        ///< its position in the order in which nodes run; −1: a leaf
};

/// An observer that wants to see what tensors hold. While a recorder is there, each tensor it wants is computed apart (a plan's
/// nodes run in ranges that end at it, and it is not fused away), and what it holds is recorded as soon as it was computed:
/// record::Value, then record::ValueElement for its first elements and record::ValueBucket. Leafs are read when the evaluation
/// begins to run.
class Watcher {
public:
    virtual ~Watcher() = default;
    /// Told the names of the backends that there are, before anything is loaded. Throws Error(usage) if it looks for another one.
    virtual void check_backends(std::span<const std::string_view>) const {}
    /// Asked about each tensor of each plan, copies aside, after pass 5.
    virtual bool wants(const WatchCandidate& candidate) = 0;
    /// Called when the first graph of the model was planned. Throws Error(usage) if something it looks for was in no graph.
    virtual void check_found() const = 0;

    static constexpr size_t n_first = 8; ///< elements that are recorded
};

/// A group that would hide what a watched node holds is none, whatever the backend thought.
void take_apart_watched(SplitGraph& graph);

/// Writes what a tensor holds. The work that computes it must be complete. `device`: interned name of the one that computed it
/// once more, to be compared; empty: the tensor's own backend did.
void record_values(const Tensor& tensor, Recorder& recorder, StringId device = 0);

/// Asks about each tensor and marks those that are watched. Without a watcher: none is.
void mark_watched(LivePlan& live, const LiveDevices& devices, Watcher* watcher);

} // namespace schedscope
