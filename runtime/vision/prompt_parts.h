#pragma once

#include "runtime/vision/preprocess/preprocess.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::vision {

/// Views that go into a prompt as one run of embeddings, and the text in front of them.
struct PromptPart {
    std::string before;
    std::shared_ptr<const Views> views;
};
struct PromptParts {
    std::vector<PromptPart> parts;
    std::string after; ///< text behind the last one
};

/// How an image stands in a prompt. LLaVA: as it is. MiniCPM-V: each view for itself between control tokens, the slices' rows on
/// lines of their own.
PromptParts prompt_parts(Views image, const EncoderHparams& h);

} // namespace schedscope::vision
