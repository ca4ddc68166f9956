#pragma once

#include "runtime/sampling/sampler.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

/// What one sampler of a chain left, for the records.
struct SamplerStep {
    std::string_view name; ///< lives as long as the chain
    int32_t candidates = 0;
};

/// The samplers of one sequence, in order. The last one chooses. A copy is in the same state and goes its own way.
class SamplerChain {
public:
    SamplerChain() = default;
    SamplerChain(const SamplerChain& other);
    SamplerChain(SamplerChain&&) noexcept = default;
    SamplerChain& operator=(SamplerChain other) noexcept;

    void add(std::unique_ptr<Sampler> sampler) { samplers_.push_back(std::move(sampler)); }
    bool empty() const noexcept { return samplers_.empty(); }
    std::span<const std::unique_ptr<Sampler>> samplers() const noexcept { return samplers_; }

    /// Chooses a token from the logits of the whole vocabulary; it is not accepted yet. Throws Error(device) when no token can be
    /// chosen, Error(usage) when no sampler of the chain chooses.
    int32_t choose(std::span<const float> logits);
    /// What each sampler left in the last `choose`.
    std::span<const SamplerStep> steps() const noexcept { return steps_; }

    void accept(int32_t token);
    void reset();

private:
    std::vector<std::unique_ptr<Sampler>> samplers_;
    Candidates candidates_;
    std::vector<SamplerStep> steps_;
};

} // namespace schedscope
