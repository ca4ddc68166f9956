#pragma once

#include "inspector/tui/app.h"

#include <string>
#include <vector>

namespace schedscope::tui {

// Moves from place to place, which can be gone back to. Each tells what it did.

/// To what Enter on a line leads to.
void open(App& app, Target target);
/// To a place that was looked at before; `said`: what the way there was. Leaves no place to go back to.
void go_to(App& app, TrailPlace place, const std::string& said);
/// To the tensor that made the selected one run where it does.
void go_to_cause(App& app);
/// To one of some tensors: the only one at once; of several, one is chosen on a page. `what`: that they do to the selected tensor
/// ("reads").
void choose_of(App& app, const std::vector<TensorId>& tensors, const std::string& what);
/// The story of a tensor on a page.
void explain(App& app, TensorId id);
std::string story_title(const InspectorSession& session, TensorId id); ///< of that page

} // namespace schedscope::tui
