#pragma once

#include "traces/attach/ggml_copy.h"

/// ggml calls each backend's graph optimiser once a split, right behind pass 5, through a pointer in the backend's table. Where a
/// build has ggml_graph_view inlined, this alone says where its splits begin and end.
namespace schedscope::attach {

/// Where that pointer stands in a backend: the one place between what ggml_backend_event_wait calls and what
/// ggml_backend_get_device returns. −1: this ggml has none, or it was not found with certainty.
int find_optimiser_slot(const Exports& call);

/// From now on these backends' slots lead to us and on from there, until they are led back.
void lead_optimisers_here(const GgmlCopy& ggml, Backend* const* backends, int n);
/// All slots are as they were before, but those that somebody else has changed since.
void lead_optimisers_back();
/// The program frees it.
void forget_optimiser(const Backend* backend);

} // namespace schedscope::attach
