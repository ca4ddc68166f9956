#pragma once

#include <string>

namespace schedscope {

/// `export T --html F`. Throws as make_report and open_trace do. path "-": standard output.
void export_report(const std::string& trace, const std::string& path);

} // namespace schedscope
