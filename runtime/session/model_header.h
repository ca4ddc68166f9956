#pragma once

#include "runtime/planner/model_header.h"

namespace schedscope {

namespace gguf {
class File;
}

/// Of a model or an image encoder: the keys of its architecture, and all tensors.
ModelHeader header_of(const gguf::File& file);

} // namespace schedscope
