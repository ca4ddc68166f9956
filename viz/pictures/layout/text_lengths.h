#pragma once

#include <graphviz/cgraph.h>

#include <string>
#include <string_view>

namespace schedscope {

/// Tells whoever shows an SVG how long each text has to be: as long as it was when its box was made. Viewers have fonts of their
/// own, and with another one lines would leave their boxes or lie beside their middles. `graph` was rendered as xdot.
std::string with_text_lengths(std::string_view svg, Agraph_t* graph);

} // namespace schedscope
