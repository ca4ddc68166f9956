#pragma once

#include "inspector/cli/bench/bench.h"

#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

/// Tokens a second, as one program measured them.
struct PeerRates {
    std::optional<double> prompt, generation; ///< nothing: not asked for
    std::string devices;                      ///< as shown; empty: not said
    bool on_processors = false;               ///< it says that nothing ran on other hardware
};

/// What a program prints that is measured beside this one:
///
///     {"prefill_tok_s":812.5,"decode_tok_s":61.2}
///
/// with any more keys, or what llama-bench prints (-o json): of its tests those of as many tokens and of the depth that was
/// asked for. A prompt or generation of 0 tokens may be left out. Throws Error(input) "WHO: why" where what was asked for isn't
/// there.
PeerRates read_rates(std::string_view text, int32_t n_prompt, int32_t n_generate, int32_t depth, const std::string& who);
/// The same of this program, as JSON: `bench --rates`. The case has one prompt and one generation at most.
std::string rates_text(const BenchCase& measured);

} // namespace schedscope
