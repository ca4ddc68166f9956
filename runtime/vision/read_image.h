#pragma once

#include "runtime/system/budget.h"
#include "runtime/system/process/program_role.h"
#include "runtime/vision/decoders/decode_child.h"
#include "runtime/vision/image.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace schedscope::vision {

/// The child in which a file is decoded.
struct ImageChild {
    std::vector<std::string> command = own_command(decode_role); ///< what it does: decode_child_main
    int64_t seconds = budget::image_seconds;                     ///< it is ended after this long
    std::function<bool()> cancelled;                             ///< asked every now and then; true ends it
};

/// What decode_any makes of a file, decoded in a child process that can do nothing else: whatever is in the file does no more
/// harm than that it can't be read. Throws Error(input) also for a file that is missing, unreadable, no regular file, or that
/// crashes the child or takes too much of its time or memory; Error(device) when no child can be started; Interrupted. Of a file
/// that is no image, or one too large, no more than the beginning is read.
Image read_image(const std::string& path, const ImageChild& child = {});

} // namespace schedscope::vision
