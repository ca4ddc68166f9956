#pragma once

#include "inspector/tui/app.h"

#include <optional>
#include <string>

namespace schedscope::tui {

// To places that are called by number or name. Each tells where it went, or what there is no such thing of.

void ask_step(App& app);
void go_to_step(App& app, const std::string& number);
void go_to_evaluation(App& app, const std::string& number);
void go_to_pass(App& app, const std::string& name);
/// By name, the beginning of one, or number.
void show_view_called(App& app, const std::string& name);
/// Selects it, in the view of nodes; shows its story. "": the selected one.
void go_to_tensor(App& app, const std::string& name);
void explain_tensor(App& app, const std::string& name);

/// "1,204" too.
std::optional<int64_t> parse_number(std::string text);

} // namespace schedscope::tui
