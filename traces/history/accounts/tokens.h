#pragma once

#include "traces/history/history.h"

#include <optional>
#include <string>
#include <vector>

/// The tokens that were chosen, and by which samplers.
namespace schedscope::accounts {

/// What one sampler of a chain did for a token.
struct SamplerRow {
    std::string name;
    BackendId backend = no_backend; ///< none: on the host after the graph
    bool refused = false;           ///< the backend lacks an operator that it needs
    std::string why_not_in_graph;
    int32_t candidates = 0, n_nodes = 0;

    /// "+top_k": in the graph; "-top_k": its backend lacks an operator; "top_k": on the host.
    std::string marked() const;
    bool draws() const noexcept; ///< it draws random numbers, from the run's seed
};

struct TokenRow {
    EvaluationId eval = 0;
    int32_t seq = 0;
    std::optional<int32_t> id;
    std::string text;
    std::vector<SamplerRow> chain; ///< its samplers, in order
    int32_t candidates = 0;
    int64_t host_bytes = 0;

    std::vector<std::string> samplers() const; ///< marked
    bool used_seed() const noexcept;           ///< one of its samplers draws; not: another seed would have chosen it, too
};

/// Of the whole trace.
std::vector<TokenRow> tokens(History& history);

} // namespace schedscope::accounts
