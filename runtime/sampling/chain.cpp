#include "runtime/sampling/chain.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

namespace schedscope {

SamplerChain::SamplerChain(const SamplerChain& other) {
    for (size_t i = 0; i < other.samplers_.size(); ++i) {
        add(other.samplers_[i]->clone(), other.places_[i]);
    }
}

SamplerChain& SamplerChain::operator=(SamplerChain other) noexcept {
    samplers_.swap(other.samplers_);
    places_.swap(other.places_);
    steps_.clear();
    return *this;
}

int32_t SamplerChain::choose(std::span<const float> logits) {
    candidates_.fill(logits);
    steps_.clear();
    return choose_from(0);
}

int32_t SamplerChain::choose(const SampledInGraph& sampled) {
    steps_.clear();
    for (const int32_t left : sampled.left) {
        steps_.push_back({samplers_[steps_.size()]->name(), left});
    }
    if (sampled.token >= 0) {
        return sampled.token;
    }
    if (sampled.ids.empty()) {
        candidates_.fill(sampled.logits);
    } else {
        candidates_.fill(sampled.ids, sampled.logits, sampled.sorted);
    }
    return choose_from(sampled.left.size());
}

int32_t SamplerChain::choose_from(size_t first) {
    for (size_t i = first; i < samplers_.size(); ++i) {
        samplers_[i]->apply(candidates_);
        const size_t left = candidates_.chosen >= 0 ? 1 : candidates_.items.size();
        steps_.push_back({samplers_[i]->name(), int_of(left)});
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
