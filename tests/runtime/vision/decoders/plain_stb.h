#pragma once

#include "runtime/vision/image.h"

#include <string>

namespace schedscope::test {

/// What stb_image alone makes of a file, in the way llama.cpp calls it. An image of no pixels where it can't. For sound files
/// only: it is not safe.
vision::Image plain_stb(const std::string& file);

} // namespace schedscope::test
