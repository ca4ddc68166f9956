#pragma once

#include "runtime/context/batch.h"
#include "runtime/context/graph_inputs.h"
#include "runtime/context/graph_sampling.h"
#include "runtime/context/kv_cache.h"
#include "runtime/model/graph_builder.h"
#include "runtime/model/model.h"
#include "runtime/numbers.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

struct ContextOptions {
    int32_t n_ctx = 0; ///< cells; rounded up to a multiple of 256
    int32_t n_batch = 2048;
    int32_t n_ubatch = 512;
    bool flash_attention = false;
    Type cache_type_k = Type::F16;
    Type cache_type_v = Type::F16;
};

/// A conversation with a model: the KV cache, and graphs that are kept as long as they fit. From token to token: `decode` cuts
/// the batch into ubatches; each gets cells in the cache, a graph (the last one if its shape is the same, else a new one, planned
/// by the scheduler), its inputs, and runs; the rows of logits are copied out. One thread at a time; model and scheduler outlive
/// it.
class InferenceContext {
public:
    /// Throws as KvCache does.
    InferenceContext(const Model& model, Scheduler& scheduler, const ContextOptions& options);
    ~InferenceContext();
    InferenceContext(const InferenceContext&) = delete;
    InferenceContext& operator=(const InferenceContext&) = delete;

    /// Evaluates the batch. Throws Error(usage) for a batch that makes no sense (token ids, positions, sequences) or does not fit
    /// into the context, Error(device) when the machine fails, Error(input) when the model's file was cut short meanwhile; cells
    /// of the ubatch that failed are free again (all cells, if keys were being turned).
    void decode(const Batch& batch);
    /// Plans the batch as `decode` would, with the records that come from planning, and runs nothing. The cells stay taken.
    void plan_only(const Batch& batch);
    /// The same, and does what computing it would do once and for all: shaders are compiled.
    void prepare(const Batch& batch);

    /// Gives up the kept graph, so that another caller can run one evaluation with the scheduler, and returns that evaluation's
    /// number. to: what for, as the check that the next evaluation's graph fails; a constant of the program.
    EvaluationId lend_scheduler(std::string_view to);
    /// The scheduler has another recorder, or none: the next evaluation plans again, so that its records hold its plan.
    void recorder_changed();

    /// Rows of the last decode, for tokens with outputs, in the batch's order. [n_vocab]. Throws Error(usage) for a row that
    /// there is not, or that stayed on the device because its sequences are sampled in the graph.
    int32_t n_outputs() const noexcept { return n_of(rows_); }
    std::span<const float> logits(int32_t row) const;

    /// Chooses a sequence's tokens in the graph, as far as its chain can, from the next decode on; null: on the host again.
    /// Between decodes.
    void set_sampler(int32_t sequence, std::shared_ptr<SamplerChain> chain);
    /// The chains, and what they chose in the last decode.
    const GraphSampling& sampling() const noexcept { return sampling_; }

    /// The cells, for removing, copying and moving sequences between decodes. Keys of moved cells are turned before the next
    /// evaluation.
    KvCells& cells() noexcept { return cache_.cells(); }
    const KvCache& cache() const noexcept { return cache_; }
    const ContextOptions& options() const noexcept { return options_; }
    const Model& model() const noexcept { return model_; }

    /// Were the logits of an output of the last decode copied to the host?
    bool has_logits(int32_t row) const noexcept { return row >= 0 && row < n_outputs() && rows_[row] >= 0; }

    /// How many evaluations there were, and how many of them ran a graph again.
    int32_t n_evaluations() const noexcept { return n_evaluations_; }
    int32_t n_reused() const noexcept { return n_reused_; }
    /// Of the last evaluation; null before the first. For tests and statistics.
    const Graph* graph() const noexcept { return graph_.get(); }

private:
    /// What must be the same for a graph to be used again.
    struct GraphKey {
        UbatchShape shape;
        int32_t n_sequences = 0;
        int32_t n_kv = 0;
        int32_t samplers = 0; ///< version of the chains in the graph
    };
    struct KnownAlternative {
        GraphKey key;
        GraphId graph = 0;
    };
    enum class Run : uint8_t { plan, prepare, compute };

    void check(const Batch& batch) const;
    void evaluate(const Batch& batch, Run run);
    void evaluate(const Ubatch& ubatch, Run run);
    static std::string_view first_difference(const GraphKey& a, const GraphKey& b) noexcept;
    void build(const GraphKey& key);
    GraphTensors build(Graph& graph, const GraphSettings& settings, const GraphKey& key, const CacheView& cache);
    void read_outputs(const Ubatch& ubatch);
    std::vector<PlanAlternative> record_alternatives(const GraphKey& key);
    /// Memory for the largest graphs that there can be: a token, then a whole ubatch with outputs for all, each with the cache
    /// full.
    void reserve();
    void drop_graph() noexcept;
    void turn_moved_keys();
    void record_begin(const Ubatch& ubatch, bool reused, std::string_view failed_check);

    const Model& model_;
    Scheduler& scheduler_;
    ContextOptions options_;
    GraphSettings settings_;
    KvCache cache_;
    GraphInputs inputs_;
    GraphSampling sampling_;
    std::unique_ptr<Graph> graph_;
    GraphTensors io_;
    GraphKey key_;
    std::vector<KnownAlternative> alternatives_; ///< graphs with the other setting of flash attention, recorded before
    std::vector<int32_t> slots_;
    std::vector<int32_t> rows_; ///< [outputs] the place of each one's logits; −1: they were not copied to the host
    std::vector<float> logits_; ///< [rows that were copied × n_vocab]
    bool reserved_ = false;
    std::string_view dropped_by_; ///< what took the last graph away, as a failed check; empty: nothing did
    EvaluationId next_evaluation_ = 0;
    EvaluationId planned_in_ = 0;
    int32_t n_evaluations_ = 0;
    int32_t n_reused_ = 0;
};

} // namespace schedscope
