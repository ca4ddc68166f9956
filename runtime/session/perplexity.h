#pragma once

#include "runtime/session/session.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace schedscope {

struct Perplexity {
    double value = 0;     ///< exp of the mean of −ln(probability that the model gave to the token that came)
    double error = 0;     ///< standard error of `value`; one token alone says nothing of it: infinite
    int64_t n_tokens = 0; ///< scored
};

/// How well the model foretells a text. The text is read in windows of the context's length, each with the vocabulary's first
/// token in front (where the model wants one); the second half of each is scored, so that every scored token has half a context
/// before it: llama.cpp's way, and comparable with its figures. A rest that is no whole window is left out. A text that does not
/// fill one window is scored from its second token on. The cache's cells are cleared. `tokens`: BOS included. stop: ends after
/// the present evaluation with what is there. Throws Error(usage) when there is nothing to score, and as InferenceContext::decode
/// does.
Perplexity perplexity(Session& session, std::span<const Token> tokens, const std::atomic<bool>* stop = nullptr);

/// Plans what `perplexity` would run, without running it: works with header_only. Throws Error(usage) as it does.
void plan_perplexity(Session& session, std::span<const Token> tokens);

} // namespace schedscope
