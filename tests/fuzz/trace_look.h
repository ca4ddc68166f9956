#pragma once

#include <cstdint>
#include <string>

namespace schedscope::fuzz {

/// Reads a trace as a program would: opens it, and has the nth of the faces (of all there are: the tables, stories, exports, replay, pictures, the report) look at
/// it. What is wrong with the file must be Error(input) in one short line; anything else ends the program.
void look_at_trace(const std::string& path, uint8_t face);

} // namespace schedscope::fuzz
