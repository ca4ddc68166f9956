#pragma once

#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

class Device;

/// Nodes [first, first + count) of a split that run as one kernel. `kernel` is a constant of the program: "rms_norm_mul".
struct FusionGroup {
    int32_t first = 0;
    int32_t count = 0;
    std::string_view kernel;
};

/// Nodes that looked fusable and were not; node indices as in the optimised order. `why` is a constant: "used elsewhere".
struct UnfusedPair {
    int32_t first = 0;
    int32_t second = 0;
    std::string_view why;
};

/// A backend's share of a plan. `nodes` may be reordered by optimise (never across a dependency).
struct SplitGraph {
    std::vector<Tensor*> nodes; ///< view ops included
    std::vector<FusionGroup> groups;
    std::vector<UnfusedPair> not_fused;
};

/// What ran, and when. Times are on the recorder's clock (steady, ns), 0 where none were taken; bytes and flops: op_cost.h.
struct KernelTime {
    int32_t first = 0; ///< node index in the split's order
    int32_t count = 1;
    std::string_view kernel; ///< constant of the program
    int64_t start_ns = 0;
    int64_t end_ns = 0;
};

/// Shaders that a driver compiled, one after the other.
struct Compilation {
    int32_t n_shaders = 0;
    int64_t start_ns = 0, end_ns = 0; ///< on the recorder's clock; the first one's start, the last one's end
};

/// What a backend says of the kernels that it runs.
struct KernelLog {
    bool timed = true;    ///< with their times; else which they are, which costs next to nothing
    bool spanned = false; ///< with the time of all of them, by the clock of a device that works on a queue
    std::vector<KernelTime> kernels;
    int64_t start_ns = 0, end_ns = 0; ///< where it is spanned: first start, last end, known once it is waited for; 0: no clock
    Compilation compilation;          ///< for the kernels of the last call of `compute`
};

/// Marks a point in a backend's queue.
class Event {
public:
    virtual ~Event() = default;
};

/// A queue on a device. One thread at a time. `compute` may return before the work is done; `synchronize` waits for it.
class Backend {
public:
    virtual ~Backend() = default;
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    virtual std::string_view name() const noexcept = 0;
    virtual Device& device() const noexcept = 0;

    /// Finds fusable groups and may reorder. Called before memory is planned: no tensor made in the graph has data yet.
    virtual void optimise(SplitGraph& /*split*/) {}
    /// Leaves every split as it is, unlike others of its device's kind: it stands for a device of another program.
    virtual bool keeps_order() const noexcept { return false; }
    /// Does for a planned split what its first `compute` would do once and for all: shaders are compiled. Computes nothing.
    virtual void prepare(const SplitGraph& /*split*/) {}
    /// An evaluation of so many tokens comes: other threads may be meant for many of them than for one.
    virtual void expect(int64_t /*n_tokens*/) {}
    /// Runs nodes [first, first + count) of the split in order, each group as its kernel where the group lies in the range
    /// entirely (and memory allows it: where the plan's overlaps forbid, node by node). Throws Error(device). log: null, or where
    /// to append one entry per kernel; complete after the next `synchronize`.
    virtual void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) = 0;
    virtual void synchronize() {}

    /// Starts a copy of the whole tensor on this queue. False: this pair can't; the caller synchronises and copies.
    virtual bool copy_async(const Tensor& /*source*/, const Tensor& /*target*/) { return false; }

    /// Null where a backend has no events (it then works synchronously or is synchronised).
    virtual std::unique_ptr<Event> make_event() { return nullptr; }
    virtual void record(Event&) {}
    virtual void wait(Event&) {}        ///< this queue waits
    virtual void synchronize(Event&) {} ///< the host waits
};

} // namespace schedscope
