#pragma once

#include "runtime/sampling/chain.h"
#include "runtime/sampling/samplers.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope {

/// What a user asks of sampling. Absent: the model's metadata decides, then the default in brackets.
struct SamplingOptions {
    std::optional<float> temperature;       ///< [0.8]; ≤ 0: greedy
    std::optional<int32_t> top_k;           ///< [40]
    std::optional<float> top_p;             ///< [0.95]
    std::optional<float> min_p;             ///< [0.05]
    std::optional<float> repeat_penalty;    ///< [1]
    std::optional<int32_t> repeat_last_n;   ///< [64]
    std::optional<float> frequency_penalty; ///< [0]
    std::optional<float> presence_penalty;  ///< [0]
    std::vector<std::pair<int32_t, float>> logit_bias;
    bool ignore_eos = false;
};

/// A model's own recommendation: the value of a `general.sampling.*` key, the key without that prefix. Nothing if it has none.
struct SamplingMetadata {
    std::function<std::optional<double>(std::string_view key)> number = [](std::string_view) { return std::nullopt; };
    std::function<std::optional<std::string>(std::string_view key)> text = [](std::string_view) { return std::nullopt; };
};

/// Every value settled: options beat metadata, metadata beats defaults.
struct SamplingParams {
    float temperature = 0.8F;
    int32_t top_k = 40;
    float top_p = 0.95F;
    float min_p = 0.05F;
    Penalties penalties;
    std::vector<std::pair<int32_t, float>> logit_bias;
    std::string sequence = "penalties;top_k;top_p;min_p;temp"; ///< samplers in order; metadata's `sequence` changes it
};

/// end_tokens: every end-of-generation token of the vocabulary, forbidden when ignore_eos is asked for.
/// Throws Error(usage) for a value out of its range, Error(input) for such a value in the metadata.
SamplingParams resolve(const SamplingOptions& options, const SamplingMetadata& metadata,
                       std::span<const int32_t> end_tokens = {});

/// Logit bias first, then the sequence, then greedy (temperature ≤ 0) or dist.
SamplerChain make_chain(const SamplingParams& params, uint32_t seed);

/// A chain as people write it: "top_k=40;top_p=0.9;temp=0.8;dist". A sampler named without a value takes it from `params`. Samplers:
/// penalties, penalty_repeat, top_k, top_p, min_p, temp, greedy, dist; "cpu:" in front of a name is accepted. Throws Error(usage) naming what is not understood.
SamplerChain parse_chain(std::string_view text, const SamplingParams& params, uint32_t seed);

} // namespace schedscope
