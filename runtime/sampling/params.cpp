#include "runtime/sampling/params.h"

#include "runtime/error.h"

#include <charconv>
#include <cmath>
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

std::string_view next_word(std::string_view& text, char separator) {
    const size_t at = text.find(separator);
    const std::string_view word = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return word;
}

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && s.front() == ' ') {
        s.remove_prefix(1);
    }
    while (!s.empty() && s.back() == ' ') {
        s.remove_suffix(1);
    }
    return s;
}

double number_of(std::string_view word, std::string_view value) {
    double parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc{} || end != value.data() + value.size() || !std::isfinite(parsed)) {
        throw Error(ErrorKind::usage, "sampler '" + std::string(word) + "': '" + std::string(value) + "' is not a number");
    }
    return parsed;
}

int32_t whole(double v) noexcept {
    constexpr double most = std::numeric_limits<int32_t>::max();
    return static_cast<int32_t>(std::min(std::max(v, -most), most));
}

/// The sampler called `name`; `value` beats the one in params. Null: there is none of that name.
std::unique_ptr<Sampler> make_named(std::string_view name, std::optional<double> value, const SamplingParams& params,
                                    uint32_t seed) {
    const auto real = [&](float otherwise) { return value ? static_cast<float>(*value) : otherwise; };
    if (name == "top_k") {
        return make_top_k(value ? whole(*value) : params.top_k);
    }
    if (name == "top_p") {
        return make_top_p(real(params.top_p));
    }
    if (name == "min_p") {
        return make_min_p(real(params.min_p));
    }
    if (name == "temp" || name == "temperature") {
        return make_temperature(real(params.temperature));
    }
    if (name == "penalties" || name == "penalty_repeat") {
        Penalties penalties = params.penalties;
        penalties.repeat = real(penalties.repeat);
        return make_penalties(penalties);
    }
    if (name == "greedy") {
        return make_greedy();
    }
    if (name == "dist") {
        return make_dist(value ? static_cast<uint32_t>(whole(*value)) : seed);
    }
    return nullptr;
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

SamplerChain make_chain(const SamplingParams& params, uint32_t seed) {
    SamplerChain chain;
    if (!params.logit_bias.empty()) {
        chain.add(make_logit_bias(params.logit_bias));
    }
    const bool greedy = params.temperature <= 0;
    std::string_view rest = params.sequence;
    while (!rest.empty()) {
        const std::string_view name = trimmed(next_word(rest, ';'));
        // Narrowing can't change which token is the likeliest; only penalties can.
        if (greedy && name != "penalties") {
            continue;
        }
        // A model may recommend samplers that are not known here.
        if (auto sampler = make_named(name, std::nullopt, params, seed);
            sampler != nullptr && name != "greedy" && name != "dist") {
            chain.add(std::move(sampler));
        }
    }
    chain.add(greedy ? make_greedy() : make_dist(seed));
    return chain;
}

SamplerChain parse_chain(std::string_view text, const SamplingParams& params, uint32_t seed) {
    SamplerChain chain;
    if (!params.logit_bias.empty()) {
        chain.add(make_logit_bias(params.logit_bias));
    }
    bool ends = false;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::string_view word = trimmed(next_word(rest, ';'));
        if (word.empty()) {
            continue;
        }
        if (word.starts_with("cpu:")) {
            word.remove_prefix(4);
        }
        std::string_view value = word;
        const std::string_view name = trimmed(next_word(value, '='));
        const bool has_value = word.find('=') != std::string_view::npos;
        auto sampler = make_named(name, has_value ? std::optional(number_of(name, trimmed(value))) : std::nullopt, params, seed);
        if (sampler == nullptr) {
            throw Error(ErrorKind::usage,
                        "sampler '" + std::string(name) +
                            "': there is none of that name (penalties, top_k, top_p, min_p, temp, greedy, dist)");
        }
        if (ends) {
            throw Error(ErrorKind::usage, "sampler '" + std::string(name) + "': the chain has already chosen a token before it");
        }
        ends = name == "greedy" || name == "dist";
        chain.add(std::move(sampler));
    }
    if (!ends) {
        throw Error(ErrorKind::usage,
                    "sampler chain '" + std::string(text) + "': nothing chooses a token, end it with greedy or dist");
    }
    return chain;
}

} // namespace schedscope
