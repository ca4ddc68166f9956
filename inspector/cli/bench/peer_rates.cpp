#include "inspector/cli/bench/peer_rates.h"

#include "runtime/error.h"
#include "viz/tables/table_json.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace schedscope {

namespace {

using nlohmann::json;

constexpr const char *prefill = "prefill_tok_s", *decode = "decode_tok_s";

/// The number at a key; nothing: there is none.
std::optional<double> number_at(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// A rate that can be: a number above 0.
std::optional<double> rate_at(const json& object, const char* key) {
    const std::optional<double> rate = number_at(object, key);
    return rate && std::isfinite(*rate) && *rate > 0 ? rate : std::nullopt;
}

/// Of llama-bench's tests the one of these tokens.
std::optional<double> rate_among(const json& tests, int32_t n_prompt, int32_t n_generate, int32_t depth) {
    for (const json& test : tests) {
        if (number_at(test, "n_prompt") == n_prompt && number_at(test, "n_gen") == n_generate &&
            number_at(test, "n_depth").value_or(0) == depth) { // builds that know no depth don't say it
            return rate_at(test, "avg_ts");
        }
    }
    return std::nullopt;
}

} // namespace

PeerRates read_rates(std::string_view text, int32_t n_prompt, int32_t n_generate, int32_t depth, const std::string& who) {
    const auto refuse = [&](const std::string& why) { return Error(ErrorKind::input, who + ": " + why); };
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw refuse(std::string("it printed nothing; {\"") + prefill + "\":…,\"" + decode + "\":…} is wanted");
    }
    const json said = json::parse(text, nullptr, false);
    if (!said.is_object() && !said.is_array()) {
        throw refuse(std::string("what it printed is no JSON object; {\"") + prefill + "\":…,\"" + decode + "\":…} is wanted");
    }
    PeerRates rates;
    if (said.is_object()) {
        rates.prompt = rate_at(said, prefill);
        rates.generation = rate_at(said, decode);
        rates.devices = said.contains("devices") && said["devices"].is_string() ? said["devices"].get<std::string>() : "";
        rates.on_processors = said.contains("on_processors") && said["on_processors"] == true;
    } else {
        rates.prompt = rate_among(said, n_prompt, 0, depth);
        rates.generation = rate_among(said, 0, n_generate, depth);
    }
    const auto require = [&](std::optional<double>& rate, int32_t n, const char* key, const char* size) {
        if (n == 0) {
            rate.reset();
        } else if (!rate) {
            throw refuse(said.is_object() ? std::string("what it printed has no ") + key + " above 0"
                                          : std::string("what it printed has no test of ") + size + " " + std::to_string(n) +
                                                " alone at depth " + std::to_string(depth) + " with an avg_ts above 0");
        }
    };
    require(rates.prompt, n_prompt, prefill, "n_prompt");
    require(rates.generation, n_generate, decode, "n_gen");
    return rates;
}

std::string rates_text(const BenchCase& measured) {
    std::optional<double> prompt, generation;
    for (const BenchTest& test : measured.tests) {
        if (test.tokens_per_s) {
            (test.n_prompt > 0 ? prompt : generation) = test.tokens_per_s->mean;
        }
    }
    return json({{prefill, or_null(prompt)},
                 {decode, or_null(generation)},
                 {"devices", measured.devices},
                 {"on_processors", measured.on_processors}})
        .dump();
}

} // namespace schedscope
