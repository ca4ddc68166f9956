#pragma once

#include "traces/attach/objects.h"

/// Calls of ggml in a process that ran before this library was there: each object has a table of the functions that it calls in
/// others (and in itself, where another one may stand in front of them), and its entries are led to ours.
namespace schedscope::attach {

/// Our function of that name; of those that are watched.
void* hook_of(Fn function);

/// In all objects that are loaded. Returns how many entries were changed now. In the loader's order, under its lock: the caller
/// holds nothing of it.
int lead_calls_here();
/// All as it was before. An entry that somebody else has changed since is left to them.
void lead_calls_back();

} // namespace schedscope::attach
