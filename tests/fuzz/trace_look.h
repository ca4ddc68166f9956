#pragma once

#include <string>
#include <string_view>

namespace schedscope::fuzz {

/// Reads a trace as a program would: opens it, and has one of the faces (of all there are: the tables, stories, exports, replay,
/// pictures, the report) look at it; the input that the trace was made of says which. What is wrong with the file must be
/// Error(input) in one short line; anything else ends the program.
void look_at_trace(const std::string& path, std::string_view input);

} // namespace schedscope::fuzz
