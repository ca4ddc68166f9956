#pragma once

#include "traces/import/model_graphs.h"

#include <memory>
#include <string>

namespace schedscope {

/// The graphs that this program builds for the model in a GGUF file, of which the header is read. Throws Error(input).
std::unique_ptr<ModelGraphs> graphs_of_model(const std::string& path);

} // namespace schedscope
