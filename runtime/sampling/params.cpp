#include "runtime/sampling/params.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/sampling/ranges.h"

#include <limits>
#include <utility>

namespace schedscope {

namespace {

/// The settled value and a check of where it came from. key: in the metadata; empty: no model has it.
template <typename T>
void settle(T& value, std::string_view name, const std::optional<T>& option, const SamplingMetadata& metadata,
            std::string_view key, ValueRange range) {
    const std::optional<double> found = option        ? std::optional(to_double(*option))
                                        : key.empty() ? std::nullopt
                                                      : metadata.number(key);
    if (!found) {
        return;
    }
    if (!range.holds(*found)) {
        throw option ? Error(ErrorKind::usage, std::string(name) + ": " + out_of_range(*found, range))
                     : Error(ErrorKind::input,
                             metadata.file + ": general.sampling." + std::string(key) + " " + out_of_range(*found, range));
    }
    value = static_cast<T>(*found);
}

} // namespace

SamplingParams resolve(const SamplingOptions& options, const SamplingMetadata& metadata, std::span<const int32_t> end_tokens) {
    SamplingParams p;
    settle(p.temperature, "--temp", options.temperature, metadata, "temp", ranges::any);
    settle(p.top_k, "--top-k", options.top_k, metadata, "top_k", ranges::count);
    settle(p.top_p, "--top-p", options.top_p, metadata, "top_p", ranges::not_negative);
    settle(p.min_p, "--min-p", options.min_p, metadata, "min_p", ranges::share);
    settle(p.penalties.repeat, "--repeat-penalty", options.repeat_penalty, metadata, "penalty_repeat", ranges::above_zero);
    settle(p.penalties.last_n, "--repeat-last-n", options.repeat_last_n, metadata, "penalty_last_n", ranges::count);
    settle(p.penalties.frequency, "--frequency-penalty", options.frequency_penalty, metadata, "", ranges::any);
    settle(p.penalties.presence, "--presence-penalty", options.presence_penalty, metadata, "", ranges::any);
    settle(p.xtc.probability, "", {}, metadata, "xtc_probability", ranges::share);
    settle(p.xtc.threshold, "", {}, metadata, "xtc_threshold", ranges::share);
    settle(p.mirostat.version, "", {}, metadata, "mirostat", ranges::mirostat);
    settle(p.mirostat.tau, "", {}, metadata, "mirostat_tau", ranges::not_negative);
    settle(p.mirostat.eta, "", {}, metadata, "mirostat_eta", ranges::not_negative);
    if (const auto sequence = metadata.text("sequence"); sequence && !sequence->empty()) {
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
