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

/// What a graph that ran the first samplers of a chain brought to the host.
struct SampledInGraph {
    std::vector<int32_t> left; ///< candidates after each sampler that ran there
    int32_t token = -1;        ///< the chosen one; −1: nothing has chosen yet
    std::vector<int32_t> ids;  ///< the candidates, if nothing has chosen: their tokens; empty: all of the vocabulary
    std::vector<float> logits; ///< beside ids; −∞: is none any more
    bool sorted = false;       ///< they fall
    int64_t host_bytes = 0;    ///< that were copied for all this
};

/// The samplers of one sequence, in order. The last one chooses. A copy is in the same state and goes its own way.
class SamplerChain {
public:
    enum class Place : uint8_t { anywhere, cpu }; ///< cpu: not in the graph, although it could

    SamplerChain() = default;
    SamplerChain(const SamplerChain& other);
    SamplerChain(SamplerChain&&) noexcept = default;
    SamplerChain& operator=(SamplerChain other) noexcept;

    void add(std::unique_ptr<Sampler> sampler, Place place = Place::anywhere) {
        samplers_.push_back(std::move(sampler));
        places_.push_back(place);
    }
    bool empty() const noexcept { return samplers_.empty(); }
    std::span<const std::unique_ptr<Sampler>> samplers() const noexcept { return samplers_; }
    Place place(size_t i) const noexcept { return places_[i]; }

    /// Chooses a token from the logits of the whole vocabulary; it is not accepted yet. Throws Error(device) when no token can be
    /// chosen, Error(usage) when no sampler of the chain chooses.
    int32_t choose(std::span<const float> logits);
    /// The same when a graph has done the work of the first samplers.
    int32_t choose(const SampledInGraph& sampled);
    /// What each sampler left in the last `choose`.
    std::span<const SamplerStep> steps() const noexcept { return steps_; }

    void accept(int32_t token);
    void reset();

private:
    int32_t choose_from(size_t first);

    std::vector<std::unique_ptr<Sampler>> samplers_;
    std::vector<Place> places_; ///< beside samplers_
    Candidates candidates_;
    std::vector<SamplerStep> steps_;
};

} // namespace schedscope
