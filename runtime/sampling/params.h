#pragma once

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
    std::string file; ///< that it stands in, for errors
    std::function<std::optional<double>(std::string_view key)> number = [](std::string_view) { return std::nullopt; };
    std::function<std::optional<std::string>(std::string_view key)> text = [](std::string_view) { return std::nullopt; };
};

/// Every value settled: options beat metadata, metadata beats defaults.
struct SamplingParams {
    float temperature = 0.8F;
    float temperature_range = 0; ///< above 0: dynamic temperature
    float temperature_exponent = 1.0F;
    int32_t top_k = 40;
    float top_p = 0.95F;
    float min_p = 0.05F;
    float typical = 1.0F;
    float top_n_sigma = -1.0F;
    Xtc xtc;
    Dry dry; ///< its breakers: see dry_breakers
    Mirostat mirostat;
    Penalties penalties;
    std::vector<std::pair<int32_t, float>> logit_bias;
    std::string sequence =
        "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temp"; ///< samplers in order; metadata's `sequence` changes it
    int32_t n_vocab = 0;                                              ///< for mirostat 1
    /// The tokens that no repetition reaches across; asked when a chain with dry is made. Empty: none.
    std::function<std::vector<int32_t>()> dry_breakers;
};

/// end_tokens: every end-of-generation token of the vocabulary, forbidden when ignore_eos is asked for.
/// Throws Error(usage) for a value out of its range, Error(input) for such a value in the metadata.
SamplingParams resolve(const SamplingOptions& options, const SamplingMetadata& metadata,
                       std::span<const int32_t> end_tokens = {});

} // namespace schedscope
