#pragma once

#include <string>

namespace schedscope {

/// What `export T --html F` writes, told on a terminal while it is made; Ctrl-C gives up. Throws as make_report and open_trace do.
std::string report_of(const std::string& trace);

} // namespace schedscope
