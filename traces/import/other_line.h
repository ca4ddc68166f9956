#pragma once

#include "traces/history/accounts/as_logged.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedscope::import {

/// "graph_reserve: reserving a graph for ubatch with n_tokens = 512, n_seqs = 1, n_outputs = 512": the next graph is planned for
/// its memory alone.
struct ReserveLine {
    int32_t n_tokens = 0, n_sequences = 0, n_outputs = 0; ///< 0: not said
};
std::optional<ReserveLine> reserve_line(std::string_view line);

/// "llama_context:    Vulkan0 compute buffer size =   164.00 MiB".
struct BufferLine {
    std::string_view buffer_type;
    std::string_view of; ///< "compute", "model", "KV"
    accounts::LoggedSize size;
};
std::optional<BufferLine> buffer_line(std::string_view line);

/// "using device Vulkan0 (NVIDIA H200) (unknown id) - 2048 MiB free".
struct DeviceLine {
    std::string_view name, description;
};
std::optional<DeviceLine> device_line(std::string_view line);

/// A fact about the whole run, by a short name: "graph splits = 46 (with bs=512), 2 (with bs=1)" is {"graph_splits", "46 (with
/// bs=512), 2 (with bs=1)"}.
struct FactLine {
    std::string_view name, value;
};
std::optional<FactLine> fact_line(std::string_view line);

} // namespace schedscope::import
