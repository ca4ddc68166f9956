#pragma once

#include "runtime/backend/backend.h"
#include "runtime/tensor/graph.h"
#include "tests/support/random/random_graph.h"
#include "tests/support/random/simulated_memory.h"

#include <deque>

namespace schedscope::test {

/// The same model on one CPU without a scheduler: every tensor of a graph in memory of its own, node after node. What it computes
/// is right.
class PlainRun {
public:
    explicit PlainRun(uint32_t model_seed);
    RandomModel& model() noexcept { return model_; }

    /// Builds the graph again and runs it.
    void run(const RandomShape& shape, uint32_t inputs_seed);
    /// Runs the last graph again.
    void again(uint32_t inputs_seed);
    const Graph& graph() const noexcept { return *graph_; }

private:
    void give_memory();

    Watch watch_;
    SimulatedMemory memory_{"Host", true, SIZE_MAX, watch_};
    std::unique_ptr<Device> device_;
    std::unique_ptr<Backend> backend_;
    RandomModel model_;
    std::unique_ptr<Graph> graph_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

} // namespace schedscope::test
