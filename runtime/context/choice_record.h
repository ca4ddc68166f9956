#pragma once

#include "runtime/context/inference_context.h"
#include "runtime/sampling/chain.h"

#include <cstdint>
#include <string_view>

namespace schedscope {

/// A token that a chain has just chosen from the last decode, and the text that may be recorded with it.
struct ChosenToken {
    int32_t sequence = 0, token = -1, position = 0;
    int32_t row = 0; ///< among the decode's outputs
    std::string_view text;
};

/// Writes down what each sampler of the chain did and where (or why not in the graph), and the token.
void record_choice(Recorder& recorder, const InferenceContext& context, const Scheduler& scheduler, const SamplerChain& chain,
                   const ChosenToken& chosen);

} // namespace schedscope
