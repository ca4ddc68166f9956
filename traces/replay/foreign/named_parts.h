#pragma once

#include "runtime/planner/graph_view.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/planner/records.h"

#include <optional>

/// Which part of a model the tensors of another program belong to, by llama.cpp's names: weights are "blk.3.attn_q.weight", keys
/// and values of a block "cache_k_l3", its nodes "norm-3". Beside part_by_name.h nothing else knows these names' meaning.
namespace schedscope {

/// Blocks of which a graph has weights; 0: no weight is named so.
int32_t n_named_blocks(const OwnedGraph& graph) noexcept;

/// Gives each tensor its part. What comes before the blocks is the input, what comes behind them the output.
void name_parts(OwnedGraph& graph);

/// What llama.cpp was asked for so that weights and caches lie where they do, as far as -ngl and -nkvo alone say it. The graph's
/// parts are named. Nothing: there are no blocks, or several devices, whose shares are not recorded.
std::optional<PlacementOptions> asked_placement(const OwnedGraph& graph, const SessionInfo& session);

} // namespace schedscope
