#pragma once

#include "runtime/planner/plan.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace schedscope {

/// `--pass P`: one of the names that people type. Throws Error(usage) with all of them.
Pass parse_pass(const std::string& text);

CLI::Option* add_pass_option(CLI::App& app, std::string& text, const char* help);

} // namespace schedscope
