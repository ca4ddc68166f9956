#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace schedscope {

/// llama.cpp's short options of several letters (-ngl, -fa, …) as the long ones that CLI11 knows. A token that is the value of
/// the option before it, or that follows `--`, is left alone. `arguments` begins with the command.
std::vector<std::string> lengthen_options(const CLI::App& program, std::vector<std::string> arguments);

/// The help text with those options as people type them.
std::string shorten_options(std::string help);

} // namespace schedscope
