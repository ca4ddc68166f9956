#pragma once

#include "inspector/tui/terminal/canvas.h"
#include "inspector/tui/views/view.h"

namespace schedscope::tui {

/// A style as it is in a selected line: colours stay to be told apart, nothing is dim.
inline Style in_reverse(Style style) { return {style.ink, style.bold, false, true, false}; }

/// Stands in the frame of lines that go on below it.
inline constexpr const char* more_below = " ↓ more ";

/// The texts of a line, from a column on, cut at `end`. `reverse`: the line is selected.
void put_parts(const Canvas& page, int row, int col, int end, const Line& line, bool reverse);

/// The same behind the mark of the present step. A selected line is reverse over `width` cells.
void put_line(const Canvas& page, int row, int col, int width, int end, const Line& line, bool reverse);

} // namespace schedscope::tui
