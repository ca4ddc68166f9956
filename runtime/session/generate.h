#pragma once

#include "runtime/sampling/chain.h"
#include "runtime/session/session.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

namespace vision {
struct Views;
}

/// An image between a prompt's tokens.
struct PromptImage {
    int32_t before = 0; ///< the index of the token that it stands in front of; behind all: the number of tokens
    std::shared_ptr<const vision::Views> views;
};

/// One sequence to continue.
struct SequencePrompt {
    int32_t sequence = 0;                             ///< 0 … max_sequences − 1
    std::vector<Token> tokens;                        ///< BOS included; at least one
    std::optional<SamplerChain> chain = std::nullopt; ///< absent: by the session's sampling values
    std::vector<PromptImage> images = {};             ///< by place in the prompt
};

/// A token that was chosen.
struct Choice {
    int32_t sequence = 0;
    int32_t index = 0; ///< in what is generated for this sequence, from 0
    Token token = no_token;
    std::string_view piece; ///< its text; empty for special tokens; may end within a UTF-8 character
    bool ends = false;      ///< it ends the generation
};

struct GenerateRequest {
    std::vector<SequencePrompt> prompts; ///< with different sequence ids
    int32_t n_predict = 128; ///< tokens per sequence; 0: the prompts only; −1: until an end token or until the context is full
    /// Runs something before the first evaluation, so that this one's time is not that of compilers and disks: see warm_up.h.
    bool warm_up = false;
    bool all_logits = false; ///< rows for all tokens of the prompts, too
    /// Each chosen token, as soon as it is.
    std::function<void(const Choice&)> on_token = {};
    /// Each row of logits: with all_logits for every token of the prompts (the last row is the one that the first token is chosen
    /// from), then for every token but the last that was generated; else just those that a token is chosen from. [n_vocab]
    std::function<void(int32_t sequence, int32_t position, std::span<const float>)> on_logits = {};
    const std::atomic<bool>* stop = nullptr; ///< set by another thread: ends after the current evaluation
};

enum class StopReason : uint8_t { count, end_token, context_full, stopped };

struct Generated {
    int32_t sequence = 0;
    std::vector<Token> tokens; ///< an end token included
    std::string text;          ///< special tokens left out; without SPM's space in front when the prompt is special tokens only
    StopReason reason = StopReason::count;
};

struct GenerateResult {
    std::vector<Generated> sequences; ///< by sequence id
    int64_t prompt_ns = 0, generate_ns = 0;
    int64_t n_prompt = 0, n_generated = 0; ///< tokens of all sequences
    int64_t n_decoded = 0;                 ///< those of the generated that were decoded in generate_ns; the last ones never are
};

/// Throws Error(usage) for prompts that make no sense or do not fit into the context.
void check_request(const Session& session, const GenerateRequest& request);

/// Decodes the prompts, then token by token for all sequences together. Samples and tokens are recorded. Sequences of an earlier
/// call are forgotten first. Throws as check_request and InferenceContext::decode do.
GenerateResult generate(Session& session, const GenerateRequest& request);

/// A chain for the sequence, at its beginning, as `generate` begins with.
std::shared_ptr<SamplerChain> chain_of(const Session& session, const SequencePrompt& prompt);

/// The evaluation of one token behind the prompts: the prompts' last tokens at `position`, or behind the prompts.
Batch next_batch(const Session& session, const GenerateRequest& request, std::optional<int32_t> position = std::nullopt);

/// The prompts fit into the context, but a token of each sequence behind them does not.
bool fill_context(const Session& session, const GenerateRequest& request);

/// Plans what `generate` would run for the prompts and one token more, without running it: works with header_only. Prompts that
/// fill the context are planned alone, with n_predict 0; with another they are refused as if they did not fit.
void plan_generation(Session& session, const GenerateRequest& request);

} // namespace schedscope
