#pragma once

#include "runtime/sampling/sampler.h"

#include <span>
#include <utility>

/// The samplers, one file each. A value that switches a sampler off makes it leave the candidates as they are.
namespace schedscope {

/// Chooses the likeliest; equal logits: the lower id.
std::unique_ptr<Sampler> make_greedy();
/// Chooses by probability with a uniform number from mt19937; equal seeds give equal tokens on every machine.
std::unique_ptr<Sampler> make_dist(uint32_t seed);
/// Divides logits by `t`. t ≤ 0: only the likeliest stays.
std::unique_ptr<Sampler> make_temperature(float t);
/// Keeps the k likeliest. k ≤ 0: off.
std::unique_ptr<Sampler> make_top_k(int32_t k);
/// Keeps the likeliest whose probabilities add up to p, at least one. p ≥ 1: off.
std::unique_ptr<Sampler> make_top_p(float p);
/// Keeps those at least p times as likely as the likeliest. p ≤ 0: off.
std::unique_ptr<Sampler> make_min_p(float p);
struct Penalties {
    int32_t last_n = 64; ///< tokens looked back at; −1: all, 0: off
    float repeat = 1.0F; ///< a positive logit is divided by it, another multiplied
    float frequency = 0; ///< taken off once per occurrence
    float presence = 0;  ///< taken off once when it occurred
};
/// Makes tokens less likely that occurred among the last accepted ones.
std::unique_ptr<Sampler> make_penalties(const Penalties& penalties);
/// Adds to the logits of some tokens; −∞ forbids. Ids outside the vocabulary are without effect.
std::unique_ptr<Sampler> make_logit_bias(std::span<const std::pair<int32_t, float>> biases);

} // namespace schedscope
