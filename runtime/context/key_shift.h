#pragma once

#include "runtime/context/kv_cache.h"
#include "runtime/scheduler/scheduler.h"

#include <span>

namespace schedscope {

/// Turns the keys of cells that moved to other positions, layer by layer in place: an evaluation of its own. shifts: by how many
/// positions each cell moved, [cells]. n_ctx: the context length asked for. Throws Error(device) when the machine fails.
void shift_keys(const Model& model, const KvCache& cache, int32_t n_ctx, std::span<const int32_t> shifts, Scheduler& scheduler,
                EvaluationId evaluation);

} // namespace schedscope
