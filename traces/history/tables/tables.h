#pragma once

#include "traces/history/history.h"
#include "traces/history/words/difference_words.h"

#include <optional>
#include <string>
#include <vector>

/// What `show --what …` prints, as plain rows. All are computed from a state (History::plan or state_at) and the records.
namespace schedscope::tables {

struct AssignmentRow {
    TensorId id = no_tensor;
    std::string name;
    std::string op, type; ///< "?": not known
    std::optional<Shape> ne;
    BackendId backend = no_backend;
    std::string cause; ///< "1.wgt0"; empty: none
    std::optional<int32_t> split;
    std::string operation; ///< the operator's own name: "SWIGLU" of a GLU; "?": not known
};
struct SplitInputRow {
    TensorId id = no_tensor;
    std::string tensor;
    BackendId from = no_backend;
    std::optional<int64_t> bytes;
};
struct SplitRow {
    int32_t index = 0;
    BackendId backend = no_backend;
    int32_t first_node = 0, last_node = 0; ///< inclusive; last < first: no nodes
    bool nodes_known = true;
    std::optional<SplitReason> why;
    TensorId node = no_tensor; ///< that starts it; none: it has views only, or that is not known
    std::string node_name;     ///< "" for none
    std::string by;            ///< the node's source that made it so
    std::vector<SplitInputRow> inputs;
    std::optional<int64_t> time_ns;
};
struct CopyRow {
    TensorId id = no_tensor, of = no_tensor;
    std::string tensor; ///< the original
    BackendId from = no_backend, to = no_backend;
    std::optional<int32_t> stage;
    std::optional<int32_t> split; ///< whose input it is; nothing: a graph input kept per stage
    std::optional<int64_t> bytes; ///< all that the original holds
    std::optional<int64_t>
        moved_bytes; ///< in this evaluation, less than `bytes` where only some experts were; nothing: not moved in it
    std::optional<int64_t> time_ns; ///< of its transfers in this evaluation, added up
    int64_t start_ns = -1;          ///< when the first of them began; −1: none
    std::optional<int32_t> experts, experts_total;
};
struct FusionRow {
    BackendId backend = no_backend;
    std::string kernel;
    int32_t split = 0;
    std::vector<std::string> nodes;
};
struct ReorderRow {
    int32_t split = 0;
    std::vector<int32_t> order; ///< the split's nodes as they run now: indices into the graph's nodes before the reordering
};
struct NotFusedRow {
    BackendId backend = no_backend;
    std::vector<std::string> nodes;
    std::string why;
};
struct FusionTable {
    std::vector<FusionRow> fusion;
    std::vector<ReorderRow> reorders;
    std::vector<NotFusedRow> not_fused;
};
struct MemoryRow {
    std::string buffer_type;
    int64_t size = 0;                  ///< of its compute buffers, all chunks
    int64_t peak = 0;                  ///< of that, the highest byte that this plan uses
    bool use_known = true;             ///< false: it is not known where tensors lie
    std::optional<std::string> replan; ///< why memory was planned again; nothing: it was not, or it was the first time
    int64_t most_live = 0;             ///< bytes of all tensors that are needed at one node, where that is most
    int32_t most_at = 0;               ///< that node: its index in the allocated graph
    struct Holder {
        TensorId id = no_tensor;
        std::string name;
        int64_t bytes = 0;
    };
    std::vector<Holder> holders; ///< those tensors, the largest first
};
/// A graph that memory was reserved for before the first plan.
struct ReserveRow {
    int32_t n_tokens = 0;
    GraphId graph = 0;
    std::optional<std::string> error; ///< why it failed
};
struct PlacementRow {
    TensorId id = no_tensor;
    std::string name, buffer_type;
    int32_t chunk = 0;
    int64_t offset = 0, size = 0;
    int32_t first_use = 0, last_use = 0;
    std::optional<std::string> in_place_of;
};
struct MemoryTable {
    std::vector<MemoryRow> memory;
    std::vector<PlacementRow> tensors;
    std::vector<ReserveRow> reserves; ///< made before this plan
};
struct KernelRow {
    TensorId id = no_tensor;
    std::string node;
    int32_t split = 0, count = 1;
    BackendId backend = no_backend;
    std::string kernel;
    int64_t start_ns = 0, end_ns = 0, bytes = 0, flops = 0;
    bool device_time = false;
    bool timed = true; ///< else start and end are not known
};
/// What one sampler of a chain did for a token.
struct SamplerRow {
    std::string name;
    BackendId backend = no_backend; ///< none: on the host after the graph
    bool refused = false;           ///< the backend lacks an operator that it needs
    std::string why_not_in_graph;
    int32_t candidates = 0, n_nodes = 0;

    /// "+top_k": in the graph; "-top_k": its backend lacks an operator; "top_k": on the host.
    std::string marked() const;
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
};
struct ReuseRow {
    EvaluationId eval = 0;
    std::optional<GraphKind> kind;
    bool reused = false;
    std::optional<std::string> failed; ///< the check that failed; nothing: reused, or there was no graph before
};

struct ValueRow {
    EvaluationId eval = 0;
    TensorId id = no_tensor;
    std::string tensor;
    std::string device;             ///< that computed it once more, to be compared; empty: what its backend computed
    record::Value value;            ///< min to norm NaN: no element is finite
    std::vector<int64_t> histogram; ///< [record::n_value_buckets] finite elements in equal parts from min to max
    std::vector<double> first;      ///< its first elements, in order
};

/// A node on two backends.
struct DifferenceRow {
    Step step = no_step;
    EvaluationId eval = 0;
    TensorId id = no_tensor;
    std::string tensor, op;
    Shape ne{};
    words::DifferenceNames names;
    record::Difference difference;
};
struct DifferenceCount {
    int64_t compared = 0, skipped = 0, beyond = 0;
    Step first_beyond = no_step;
};

/// By id; copies behind.
std::vector<AssignmentRow> assignments(History& history, const PlanState& state);
std::vector<SplitRow> splits(History& history, const PlanState& state);
std::vector<CopyRow> copies(History& history, const PlanState& state);
FusionTable fusion(History& history, const PlanState& state);
MemoryTable memory(History& history, const PlanState& state);
/// The same without a row for each tensor.
MemoryTable memory_of_buffers(History& history, const PlanState& state);
/// The compute buffers in force at a step, by type and chunk: they are recorded when they grow, with the plan that needs it or
/// behind what was reserved.
std::vector<record::BufferSize> compute_buffers(History& history, Step step);
std::vector<KernelRow> kernels(History& history, const PlanState& state);
/// Of the whole trace.
std::vector<TokenRow> tokens(History& history);
std::vector<ReuseRow> reuse(History& history);
/// What the watched tensors held, in order: in one evaluation up to the state's step; in the whole trace for an evaluation of −1.
std::vector<ValueRow> values(History& history, const PlanState& state);
/// The same of one of them, from the records after `value` up to `until`.
ValueRow value_row(History& history, const ValueState& value, Step until);

/// What a verification found, in order: in one evaluation up to the state's step; in the whole trace for an evaluation of −1.
std::vector<DifferenceRow> differences(History& history, const PlanState& state);
DifferenceRow difference_row(History& history, const DifferenceState& state);
/// Of the whole trace up to a step.
DifferenceCount count_differences(const RecordSource& source, Step until);

/// Sizes added up, each of which may be unknown.
struct SizeSum {
    int64_t bytes = 0;    ///< of those that are known
    bool complete = true; ///< all are

    void add(std::optional<int64_t> size) noexcept;
    std::optional<int64_t> known() const noexcept { return complete ? std::optional(bytes) : std::nullopt; }
};
/// Of a plan's splits.
SizeSum input_sizes(const PlanState& state);

/// What a trace holds, in numbers.
struct Summary {
    Step steps = 0;
    int evaluations = 0, plans = 0, failed = 0, graphs = 0;
    std::optional<int64_t> tokens;
    std::optional<int64_t> first_ns, last_ns; ///< times of the first and last record
    std::optional<int64_t> time_ns() const { return first_ns && last_ns ? std::optional(*last_ns - *first_ns) : std::nullopt; }
    // The last evaluation that was planned; −1 and zeros: none was. Nothing: not known.
    EvaluationId planned = -1;
    std::optional<int32_t> nodes = 0, leafs = 0;
    int32_t splits = 0, copies = 0;
    int32_t stages = 1;                       ///< of its pipeline: each copy of a split's input is there once per stage
    int32_t input_copies = 0;                 ///< of `copies`, those that keep an input of the graph for a further stage
    SizeSum to_copy;                          ///< inputs of its splits, all that they hold
    std::optional<int64_t> moved_bytes;       ///< what its transfers moved; nothing: none of it ran
    std::optional<int64_t> compute_bytes = 0; ///< buffers as they are then
    struct OpCount {
        std::string op; ///< "?": a log names none, or none that is known
        BackendId backend = no_backend;
        int32_t nodes = 0;
    };
    std::vector<OpCount> operators; ///< most frequent first
};
Summary summary(History& history);

} // namespace schedscope::tables
