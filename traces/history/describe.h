#pragma once

#include "traces/history/history.h"

#include <string>

namespace schedscope {

/// One record as a sentence for people, e.g. "ffn_norm-3: Vulkan0 by 1.wgt1 (blk.3.ffn_norm.weight)".
std::string describe(History& history, const Record& record);

/// What the graph of an evaluation is, without the evaluation's state: "decode, 1 token", "graph of 161 nodes".
std::string describe_graph(const RecordSource& source, EvaluationId evaluation);

} // namespace schedscope
