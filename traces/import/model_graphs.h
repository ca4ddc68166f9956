#pragma once

#include "runtime/planner/records.h"
#include "traces/import/logged_graph.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope {

/// The graphs that are built for one model, by which an import fills in what a log leaves out. Whoever has builders gives them
/// (inspector/cli).
class ModelGraphs {
public:
    virtual ~ModelGraphs() = default;
    virtual int64_t token_bytes() const = 0; ///< of one token's embedding
    virtual int32_t n_ctx_train() const = 0; ///< no context is longer
    virtual std::shared_ptr<const std::vector<ModelHeader>> models() const = 0;
    /// All graphs that have to do with evaluations of so many tokens that see so many cells of the cache: prompts, decodes,
    /// reserves, with flash attention and without. They live as long as this.
    virtual const std::vector<const OwnedGraph*>& graphs(int32_t n_tokens, int32_t n_cells) = 0;
};

namespace import {

/// What a logged graph was filled in from.
struct FilledIn {
    int32_t n_tokens = 0, most_tokens = 0; ///< the graphs of all from the one to the other are logged alike
    int64_t n_named = 0;                   ///< of its tensors, which have the log's names
};

/// Where the model has a graph of the same operators in the same order, with results of the sizes that the log says, the logged
/// graph becomes that one: view operators, shapes, types, parameters, and which tensors are weights. What the log says, stays:
/// its names, and that a weight which it shows in two places is two tensors. `n_tokens`: where the log says it. `name_width`:
/// names on node lines are cut to so many bytes. Nothing: there is none; `why_not` then says what lies in the way, if that is
/// known: "blk.0.attn_q.weight has 16.0 KiB in the log, 8.00 KiB (f16) in the model", or that no graph of the model has as many
/// nodes.
std::optional<FilledIn> fill_in(LoggedGraph& logged, std::optional<int32_t> n_tokens, size_t name_width, ModelGraphs& model,
                                std::string& why_not);

} // namespace import

} // namespace schedscope
