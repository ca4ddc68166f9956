#pragma once

#include "inspector/cli/run/run_arguments.h"

#include <string_view>

namespace schedscope {

constexpr std::string_view image_place = "<image>"; ///< in a prompt

/// The prompt with the images of `--image`: each `<image>` in the text is one of them, or a single one all; a text without
/// becomes the question of "USER: <image>\nQUESTION\nASSISTANT:", and no text "describe the image in detail."; with --tokens
/// images come behind the BOS. The session's records name the images. Throws Error(usage, input).
SequencePrompt image_prompt(const RunArguments& arguments, Session& session);

} // namespace schedscope
