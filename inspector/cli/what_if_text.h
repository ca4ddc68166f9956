#pragma once

#include "traces/replay.h"

#include <nlohmann/json_fwd.hpp>

#include <ostream>

namespace schedscope {

/// For people: what plans came to before and after, alike plans together, then one row for each tensor that ends up elsewhere or by another rule, runs of
/// alike ones folded, and so are those of several layers.
void what_if_text(const ReplayResult& result, std::ostream& out);

/// [{"evals":[0],"kind":"prefill","n_tokens":40,"recorded":{"nodes":{…},"splits":3,"copies":4,"bytes_moved":…,"memory":{…},"error":null},"now":{…}}]
nlohmann::json what_if_summary(const ReplayResult& result);

} // namespace schedscope
