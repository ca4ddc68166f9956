#pragma once

#include "runtime/session/generate.h"

#include <cstdint>
#include <vector>

namespace schedscope {

/// Positions that a prompt takes: its tokens, and the rows of its images.
int32_t prompt_length(const Session& session, const SequencePrompt& prompt);

/// Throws Error(usage) for images where there is no encoder, that stand nowhere in the prompt, or that end the prompt of one of
/// several sequences.
void check_images(const Session& session, const SequencePrompt& prompt, const GenerateRequest& request);

enum class EncoderRun : uint8_t {
    compute,
    plan,   ///< images are only planned; their rows are zeros
    prepare ///< the same, and what computing them takes is made ready
};

/// The prompts as they are decoded, one batch behind the other: a batch is of tokens or of embeddings. Parts in front of and
/// between images come first; in the last batch all prompts end together, so that the logits of all are there at once. Runs the
/// image encoder. Throws as it does. `encoder`: the session's own, or one with a scheduler of its own; null where there is none.
std::vector<Batch> prompt_batches(const Session& session, vision::Encoder* encoder, const GenerateRequest& request,
                                  EncoderRun run);

} // namespace schedscope
