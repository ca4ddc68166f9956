#pragma once

#include "runtime/tensor/graph.h"
#include "tests/support/random/simulated_device.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::test {

/// Random devices: up to four of any kind over a CPU that runs everything. Some share memory, some are two queues of one device,
/// some can use memory of others, and most refuse something. The same seed gives the same machine.
class Machine {
public:
    explicit Machine(uint32_t seed);

    const std::vector<std::unique_ptr<Backend>>& backends() const noexcept { return backends_; }
    /// Kinds of memory that weights and caches may lie in; the CPU's is the last one.
    const std::vector<std::unique_ptr<SimulatedMemory>>& memories() const noexcept { return memories_; }
    const SimulatedMemory& host() const noexcept { return *memories_.back(); }

    // Changes to what the seed made, before anything uses it.
    void all_offer_offload();                              ///< every GPU
    void refuse(const std::string& device, Op op);         ///< one operator more
    void select(const std::vector<std::string>& backends); ///< by name, in this order; the CPU stays the last

    Watch& watch() noexcept { return *watch_; }
    /// "GPU0 (lazy, refuses MUL) GPU0.1 CPU": for messages.
    std::string description() const;

private:
    void add_devices(std::mt19937& random);
    DeviceTraits random_traits(std::mt19937& random, DeviceKind kind, const std::string& name) const;

    std::unique_ptr<Watch> watch_ = std::make_unique<Watch>();
    std::vector<std::unique_ptr<SimulatedMemory>> memories_;
    std::vector<std::unique_ptr<SimulatedDevice>> devices_;
    std::vector<std::unique_ptr<Backend>> backends_;
};

/// Pins some nodes as a user would: on backends that can run the operator, and nothing that is a view.
void pin_some(const Graph& graph, const Machine& machine, std::mt19937& random);

} // namespace schedscope::test
