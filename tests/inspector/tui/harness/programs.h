#pragma once

#include "inspector/tui/inspector.h"

namespace schedscope::test {

/// The inspector over a made trace ("made.trace": 4 layers, 3 evaluations). Errors are told as the program tells them.
int inspect_made_with(const InspectorOptions& options);
int inspect_made();

/// Over a program that runs on a thread of its own, held by a gate.
int inspect_made_live();

} // namespace schedscope::test
