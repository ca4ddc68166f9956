#include "runtime/sampling/params.h"

#include "runtime/error.h"

#include <limits>
#include <utility>

namespace schedscope {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

struct Range {
    double min;
    double max;
};

/// The settled value and a check of where it came from.
template <typename T>
void settle(T& value, const std::optional<T>& option, const SamplingMetadata& metadata, std::string_view key, Range range) {
    std::optional<double> found;
    ErrorKind kind = ErrorKind::usage;
    if (option) {
        found = static_cast<double>(*option);
    } else if (!key.empty()) {
        found = metadata.number(key);
        kind = ErrorKind::input;
    }
    if (!found) {
        return;
    }
    if (!(*found >= range.min && *found <= range.max)) {
        throw Error(kind, "sampling: " + std::string(key) + " can't be " + std::to_string(*found));
    }
    value = static_cast<T>(*found);
}

} // namespace

SamplingParams resolve(const SamplingOptions& options, const SamplingMetadata& metadata, std::span<const int32_t> end_tokens) {
    SamplingParams p;
    settle(p.temperature, options.temperature, metadata, "temp", {-no_limit, no_limit});
    settle(p.top_k, options.top_k, metadata, "top_k", {-1, std::numeric_limits<int32_t>::max()});
    settle(p.top_p, options.top_p, metadata, "top_p", {0, no_limit});
    settle(p.min_p, options.min_p, metadata, "min_p", {0, 1});
    settle(p.penalties.repeat, options.repeat_penalty, metadata, "penalty_repeat", {1e-6, no_limit});
    settle(p.penalties.last_n, options.repeat_last_n, metadata, "penalty_last_n", {-1, std::numeric_limits<int32_t>::max()});
    settle(p.xtc.probability, std::optional<float>(), metadata, "xtc_probability", {0, 1});
    settle(p.xtc.threshold, std::optional<float>(), metadata, "xtc_threshold", {0, 1});
    settle(p.mirostat.version, std::optional<int32_t>(), metadata, "mirostat", {0, 2});
    settle(p.mirostat.tau, std::optional<float>(), metadata, "mirostat_tau", {0, no_limit});
    settle(p.mirostat.eta, std::optional<float>(), metadata, "mirostat_eta", {0, no_limit});
    settle(p.penalties.frequency, options.frequency_penalty, {}, "frequency_penalty", {-no_limit, no_limit});
    settle(p.penalties.presence, options.presence_penalty, {}, "presence_penalty", {-no_limit, no_limit});
    if (const auto sequence = metadata.text("sequence")) {
        p.sequence = *sequence;
    }
    p.logit_bias = options.logit_bias;
    if (options.ignore_eos) {
        for (const int32_t id : end_tokens) {
            p.logit_bias.emplace_back(id, -std::numeric_limits<float>::infinity());
        }
    }
    return p;
}

} // namespace schedscope
