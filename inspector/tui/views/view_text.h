#pragma once

#include "inspector/tui/views/view.h"

#include <span>
#include <string>

namespace schedscope::tui {

/// A view's list as text, nothing cut: heads and rows, columns as wide as they need to be. `rows`: which ones, in this order.
std::string list_text(InspectorSession& session, const View& view, std::span<const int> rows);

/// Lines of details as text.
std::string lines_text(std::span<const Line> lines);

} // namespace schedscope::tui
