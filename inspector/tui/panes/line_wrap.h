#pragma once

#include "inspector/tui/views/view.h"

#include <vector>

namespace schedscope::tui {

/// A line in at most `width` cells: what is too long goes on in further lines, behind `hang` cells of space, with the same
/// target; broken at spaces where there are any. Styles go on with their text.
void add_line(std::vector<Line>& lines, Line line, int width);
/// All of them.
std::vector<Line> wrapped_lines(std::vector<Line> lines, int width);

} // namespace schedscope::tui
