#include "runtime/sampling/chain.h"

#include "runtime/error.h"

namespace schedscope {

SamplerChain::SamplerChain(const SamplerChain& other) {
    for (const auto& sampler : other.samplers_) {
        add(sampler->clone());
    }
}

SamplerChain& SamplerChain::operator=(SamplerChain other) noexcept {
    samplers_.swap(other.samplers_);
    steps_.clear();
    return *this;
}

int32_t SamplerChain::choose(std::span<const float> logits) {
    candidates_.fill(logits);
    steps_.clear();
    for (const auto& sampler : samplers_) {
        sampler->apply(candidates_);
        const size_t left = candidates_.chosen >= 0 ? 1 : candidates_.items.size();
        steps_.push_back({sampler->name(), static_cast<int32_t>(left)});
        if (candidates_.chosen >= 0) {
            return candidates_.chosen;
        }
    }
    throw Error(ErrorKind::usage, "sampler chain: nothing chooses a token, end it with greedy or dist");
}

void SamplerChain::accept(int32_t token) {
    for (const auto& sampler : samplers_) {
        sampler->accept(token);
    }
}

void SamplerChain::reset() {
    for (const auto& sampler : samplers_) {
        sampler->reset();
    }
}

} // namespace schedscope
