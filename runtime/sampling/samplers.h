#pragma once

#include "runtime/sampling/sampler.h"

#include <span>
#include <utility>
#include <vector>

/// The samplers, one file each. A value that switches a sampler off makes it leave the candidates as they are.
namespace schedscope {

/// Chooses the likeliest; equal logits: the lower id.
std::unique_ptr<Sampler> make_greedy();
/// Chooses by probability with a uniform number from mt19937; equal seeds give equal tokens on every machine.
std::unique_ptr<Sampler> make_dist(uint32_t seed);
/// Divides logits by `t`. t ≤ 0: only the likeliest stays.
std::unique_ptr<Sampler> make_temperature(float t);
/// Divides logits by a temperature from t − range (the candidates' entropy is 0) to t + range (it is the greatest for their
/// number), by that share to the power of `exponent`; not below 0. range ≤ 0: the temperature t.
std::unique_ptr<Sampler> make_dynamic_temperature(float t, float range, float exponent);
/// Keeps the k likeliest. k ≤ 0: off.
std::unique_ptr<Sampler> make_top_k(int32_t k);
/// Keeps the likeliest whose probabilities add up to p, at least one. p ≥ 1: off.
std::unique_ptr<Sampler> make_top_p(float p);
/// Keeps those at least p times as likely as the likeliest. p ≤ 0: off.
std::unique_ptr<Sampler> make_min_p(float p);
/// Keeps those whose surprise is nearest to the candidates' entropy and whose probabilities add up to more than p. p ≥ 1: off.
/// (Meister et al. 2022.)
std::unique_ptr<Sampler> make_typical(float p);
/// Keeps those within n standard deviations of the largest logit. n ≤ 0: off. (Tang et al. 2024.)
std::unique_ptr<Sampler> make_top_n_sigma(float n);
struct Xtc {
    float probability = 0;  ///< that it does anything; 0: off
    float threshold = 0.1F; ///< above 0.5: off
};
/// Exclude top choices: now and then drops all that are at least as likely as the threshold but the least likely of them.
std::unique_ptr<Sampler> make_xtc(const Xtc& xtc, uint32_t seed);
struct Dry {
    float multiplier = 0; ///< 0: off
    float base = 1.75F;
    int32_t allowed_length = 2;
    int32_t last_n = -1;           ///< tokens looked back at; −1: all, 0: off
    std::vector<int32_t> breakers; ///< tokens that no repetition reaches across
};
/// Don't repeat yourself: a token that would continue a repetition of n ≥ allowed_length tokens loses multiplier × base^(n −
/// allowed_length).
std::unique_ptr<Sampler> make_dry(Dry dry);
struct Mirostat {
    int32_t version = 0; ///< 1 or 2; 0: off
    float tau = 5.0F;    ///< the surprise aimed at, in bits
    float eta = 0.1F;    ///< how fast it learns
};
/// Chooses, and cuts off what is less likely so that the surprise of what is chosen stays near tau. (Basu et al. 2020.) version 1
/// or 2.
std::unique_ptr<Sampler> make_mirostat(const Mirostat& mirostat, int32_t n_vocab, uint32_t seed);
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
