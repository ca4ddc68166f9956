#pragma once

#include "runtime/sampling/candidates.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace schedscope {

class GraphSampler;

/// One link of a chain: narrows, changes or chooses from the candidates of one sequence.
class Sampler {
public:
    virtual ~Sampler() = default;
    Sampler() = default;
    Sampler& operator=(const Sampler&) = delete;

    virtual std::string_view name() const noexcept = 0;
    /// On the CPU.
    virtual void apply(Candidates& candidates) = 0;
    /// The same in the model's graph, with the same state; null: it runs on the CPU only.
    virtual GraphSampler* in_graph() noexcept { return nullptr; }
    /// A token became part of the sequence: of the prompt, or chosen.
    virtual void accept(int32_t /*token*/) {}
    /// Back to the state after construction; random ones start from their seed again.
    virtual void reset() {}
    /// A copy in the same state, not in any graph.
    virtual std::unique_ptr<Sampler> clone() const = 0;

protected:
    Sampler(const Sampler&) = default;
};

} // namespace schedscope
