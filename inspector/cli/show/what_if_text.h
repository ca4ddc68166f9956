#pragma once

#include "traces/replay/replay.h"

#include <nlohmann/json_fwd.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace schedscope {

/// For people: what plans came to before and after, alike plans together, then one row for each tensor that ends up elsewhere or
/// by another rule, runs of alike ones folded, and so are those of several layers. `why_unchanged`: sentences of
/// why_nothing_changed where nothing did. session: the trace's.
void what_if_text(const ReplayResult& result, const SessionInfo& session, const std::vector<std::string>& why_unchanged,
                  std::ostream& out);

/// [{"evals":[0],"kind":"prefill","n_tokens":40,"recorded":{"nodes":{…},"splits":3,"copies":4,"bytes_moved":…,
///  "memory":{…},"error":null},"now":{…},
///  "fit":[{"backend":"Vulkan0","memory_bytes":…,"recorded":{"bytes":…,"fits":true},"now":{…}}]}]
/// Of unknown memory `memory_bytes` and `fits` are null.
nlohmann::json what_if_summary(const ReplayResult& result, const SessionInfo& session);

} // namespace schedscope
