#pragma once

#include "runtime/planner/records.h"

#include <span>
#include <string>

/// The views of a plan. Each returns finished Graphviz text: one statement a line, in the order of evaluation.
namespace schedscope {

class Subject;

std::string draw_splits(const Subject& subject); ///< one box a split
std::string draw_layers(const Subject& subject); ///< one box a block
std::string draw_nodes(const Subject& subject);  ///< one shape a tensor
/// Tensors as rectangles, time by offset. buffers: the compute buffers in force.
/// `scheduler`: whose plan it is, and `buffers` (accounts::compute_buffers).
std::string draw_memory(const Subject& subject, int32_t scheduler, std::span<const record::BufferSize> buffers);

} // namespace schedscope
