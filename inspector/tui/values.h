#pragma once

#include "inspector/tui/view.h"

#include <memory>

namespace schedscope::tui {

/// The two faces of the values view: what watched tensors held, and where two backends were compared, how far apart they are at each node.
std::unique_ptr<View> make_watched_values();
std::unique_ptr<View> make_compared_values();

} // namespace schedscope::tui
