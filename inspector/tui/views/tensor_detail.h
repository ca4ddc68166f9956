#pragma once

#include "inspector/tui/views/view.h"

namespace schedscope::tui {

/// All about one tensor at the present step: what it is, what it reads and who reads it, where it stands, and its story so far.
/// `with_values`: what it held, too.
std::vector<Line> tensor_detail(InspectorSession& session, TensorId id, int width, bool with_values = true);
/// The same behind other lines.
void add_tensor_detail(std::vector<Line>& lines, InspectorSession& session, TensorId id, int width, bool with_values = true);
/// The first elements of a value, where they were kept.
void add_first_elements(std::vector<Line>& lines, int width, const std::vector<double>& first);

/// "#61 RMS_NORM norm-3", "leaf blk.3.ffn_norm.weight", in the words of the list of nodes.
std::string type_and_shape(const TensorInfo& info); ///< "f32 [64, 16]"
std::string tensor_label(InspectorSession& session, TensorId id);
/// "RMS_NORM", "SILU" for a UNARY, "leaf", "copy".
std::string op_text(const InspectorSession& session, TensorId id);

} // namespace schedscope::tui
