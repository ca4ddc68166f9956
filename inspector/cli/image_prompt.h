#pragma once

#include "inspector/cli/run_arguments.h"

namespace schedscope {

/// The prompt with the images of `--image`: each `<image>` in the text is one of them, or a single one all; a text without becomes the question of
/// "USER: <image>\nQUESTION\nASSISTANT:", and no text "describe the image in detail."; with --tokens images come behind the BOS. The session's records name the
/// images. Throws Error(usage, input).
Prompt image_prompt(const RunArguments& arguments, Session& session);

} // namespace schedscope
