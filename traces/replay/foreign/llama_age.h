#pragma once

#include "runtime/planner/records.h"

#include <cstdint>
#include <optional>

namespace schedscope {

/// What llama.cpp itself, beside ggml's scheduler, does otherwise in the builds that a program may come from (SSCP_FACT_BUILDS).
/// Numbers of builds are those of the day on which a pull request was merged.
struct LlamaAge {
    /// From #18148 (b7450) the output layer is the first that goes to a device; before, it was the last. Nothing: not known.
    std::optional<bool> output_first;
    bool reads_min_batch = true; ///< from #18535 (b7678): GGML_OP_OFFLOAD_MIN_BATCH
    /// Rows of a batch from which devices take work over, as that variable says it; nothing: it is not set, not read, no number.
    std::optional<int64_t> offload_min_batch;
};

LlamaAge llama_age_of(const SessionInfo& session);

/// From which batch on devices take work over that reads weights on the host, of a run of ours or of another program.
int64_t offload_min_batch(const SessionInfo& session);

} // namespace schedscope
