#pragma once

#include "runtime/known.h"
#include "runtime/planner/answer.h"
#include "runtime/planner/model_header.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/planner/plan.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The facts that the runtime writes while it works. Plain data, no pointers: a record can be copied, stored and sent. Texts
/// are interned by the Recorder (StringId); tensors are ids of the evaluation's graph (copies behind the graph's own, see
/// Plan). An optional without a value is not known: our own runtime knows all of them, a log that was imported does not.
namespace schedscope {

using Step = int64_t;         ///< number of a record in its trace, from 0
using EvaluationId = int32_t; ///< from 0
using GraphId = int32_t;      ///< graphs in the order they were recorded, from 0
using StringId = int32_t;     ///< 0 is the empty text
using KernelListId = int32_t; ///< 0: none
constexpr Step no_step = -1;

/// An id for whom "not known" and "none" come to the same.
template <typename Id> constexpr Id or_none(const std::optional<Id>& id) noexcept { return id.value_or(Id{-1}); }
template <typename Id> constexpr Id or_none(const Known<Id>& id) noexcept { return id.value_or(Id{-1}); }

enum class GraphKind : uint8_t { prefill, decode, encoder, other, reserve }; ///< reserve: planned for its memory alone
std::string_view graph_kind_name(GraphKind kind) noexcept;

enum class Question : uint8_t { op, buffer_type, offload };
std::string_view question_name(Question question) noexcept; ///< "op" | "buffer_type" | "offload"

/// How closely the executor looks at a clock while a backend works. Each value takes what those before it take.
enum class KernelTimes : uint8_t { none, splits, kernels };
std::string_view kernel_times_name(KernelTimes times) noexcept; ///< "none" | "splits" | "kernels"
std::optional<KernelTimes> kernel_times_from_name(std::string_view name) noexcept;

namespace record {

struct EvaluationBegin {
    std::optional<GraphKind> kind = GraphKind::other;
    bool reused = false;
    bool observed = false; ///< did not run in one piece: it was stepped by node, watched or verified
    std::optional<int32_t> n_tokens = 0, n_sequences = 0, n_outputs = 0;
    EvaluationId planned_in = 0; ///< the evaluation whose plan it runs; itself when it made a plan
    StringId failed_check = 0;   ///< why the last graph was not reused; empty when reused or the first

    /// It was planned, and that came to just what `planned_in` has: the same graph, answers and decisions, which are kept once.
    bool repeats_plan(EvaluationId itself) const noexcept { return !reused && planned_in != itself; }
};
struct EvaluationEnd {
    bool failed = false;
    StringId error = 0;
};
struct UbatchToken {                   ///< one per token of the ubatch, after EvaluationBegin
    std::optional<int32_t> token = -1; ///< −1: an embedding; not known with --no-text
    int32_t sequence = 0, position = 0;
    bool output = false;
};
struct PlanBegin { ///< a new graph is planned; its tensors were given to Recorder::graph before
    GraphId graph = 0;
    std::optional<int32_t> n_nodes = 0, n_leafs = 0, n_stages = 1, current_stage = 0;
    std::optional<bool> op_offload = true;
};
struct PlanEnd {
    int32_t n_splits = 0, n_copies = 0;
    StringId error = 0; ///< of PlanError, empty when planned
};
struct Alternative {      ///< the graph that would have been planned with another setting; it was not, and nothing ran it
    GraphId graph = 0;    ///< the same as the plan's where the setting changes nothing in it
    StringId setting = 0; ///< as --set takes it: "fa=off"
};
/// Before the first plan: a graph of the largest shape was planned for its memory alone, so that later ones fit into what it
/// got. Nothing ran it, and its decisions are not recorded; its graph and every backend's answers are. Alternatives of it
/// follow.
struct Reserve {
    GraphId graph = 0;
    int32_t n_tokens = 0;
    StringId error = 0; ///< why that failed, so that buffers grow when they must; empty: it did not
};
struct Pin { ///< who decided before the plan where a tensor lies or runs
    TensorId tensor = no_tensor;
    BackendId backend = no_backend; ///< it is pinned to; none: its memory was chosen, or it could have been pinned and was not
    BufferTypeId buffer_type = no_buffer_type; ///< it lies in
    StringId why = 0;
};
struct PassBegin {
    Pass pass = Pass::none;
};
struct PassEnd {
    Pass pass = Pass::none;
};
struct BackendQuery {
    Pass pass = Pass::none;
    Question question = Question::op;
    bool yes = true;
    Refusal reason = Refusal::none;
    BackendId backend = no_backend;
    BufferTypeId buffer_type = no_buffer_type; ///< with Question::buffer_type
    TensorId tensor = no_tensor;               ///< the tensor the decision is for
    StringId detail = 0;
};
struct Assign {
    Known<Pass> pass = Pass::none;
    Known<Cause> cause = Cause::none;
    int8_t source = -1;                                       ///< which source, with 1.wgtN and 1.off
    Known<BackendId> before = no_backend, after = no_backend; ///< after may be none: the mark is set, still unassigned
    TensorId tensor = no_tensor;
    Known<TensorId> by = no_tensor; ///< the weight, the neighbour, the view source, the node that made it so
};
struct SplitBegin {
    int32_t index = 0;
    std::optional<SplitReason> why = SplitReason::first;
    std::optional<BackendId> backend = no_backend;
    std::optional<int32_t> first_node = 0;    ///< index into the nodes
    std::optional<TensorId> node = no_tensor; ///< the node that starts it (none: views only)
    std::optional<TensorId> by = no_tensor;   ///< with weight and full: the source that made it so
};
struct SplitEnd {
    int32_t index = 0;
    std::optional<int32_t> end_node = 0;
    int32_t n_inputs = 0;
};
struct SplitInput {
    int32_t split = 0;
    TensorId tensor = no_tensor;
    std::optional<TensorId> node = no_tensor; ///< the first that needs it
    std::optional<BackendId> from = no_backend;
    std::optional<int64_t> bytes = 0;
};
struct CopyMade {
    TensorId copy = no_tensor, of = no_tensor;
    BackendId backend = no_backend;
    std::optional<int16_t> stage = 0;
    bool graph_input = false; ///< made because an input is kept once per stage
    std::optional<int64_t> bytes = 0;
};
struct Rewired {
    TensorId node = no_tensor;
    int32_t source = 0;
    TensorId original = no_tensor, copy = no_tensor;
};
struct GraphInput {
    TensorId tensor = no_tensor;
};
struct Reorder { ///< one per node that moved
    int32_t split = 0;
    TensorId node = no_tensor;
    int32_t from = 0, to = 0; ///< index into the nodes before and after
};
struct Fusion { ///< nodes [first, first + count) of the optimised order
    int32_t split = 0;
    BackendId backend = no_backend;
    int32_t first = 0, count = 0;
    StringId kernel = 0;
};
struct NotFused {
    int32_t split = 0;
    BackendId backend = no_backend;
    TensorId first = no_tensor, second = no_tensor;
    StringId why = 0;
};
struct Reallocation {    ///< memory was planned again
    StringId reason = 0; ///< in ggml's words: "node kq-0 is not valid"
    TensorId node = no_tensor;
    int32_t source = -1;
};
struct BufferSize {
    BufferTypeId buffer_type = no_buffer_type;
    int32_t chunk = 0;
    int64_t size = 0;
    std::optional<int64_t> before = 0;
};
struct Placement {
    TensorId tensor = no_tensor, in_place_of = no_tensor;
    BufferTypeId buffer_type = no_buffer_type;
    int16_t chunk = 0;
    int32_t first_use = 0, last_use = 0; ///< index into the allocated graph's nodes
    int64_t offset = 0, size = 0;
};
struct Execute { ///< one kernel that was timed: a node or a fused group
    int32_t split = 0;
    BackendId backend = no_backend;
    bool device_time = false;                     ///< from the device's own timestamps
    int16_t count = 1;                            ///< nodes that ran in it
    TensorId first = no_tensor, last = no_tensor; ///< last is the one whose data was written
    StringId kernel = 0;
    int64_t start_ns = 0, end_ns = 0, bytes = 0, flops = 0;
};
struct SplitRun { ///< one split as a whole, when its inputs were copied
    int32_t split = 0;
    BackendId backend = no_backend;
    std::optional<int64_t> start_ns = 0, end_ns = 0; ///< both or none: it was not timed
    KernelListId kernels = 0; ///< that ran in it without a time of their own; none: those that did are the records before it
};
struct Transfer {
    int32_t split = 0;
    TensorId tensor = no_tensor, copy = no_tensor;
    BackendId from = no_backend, to = no_backend;
    bool async = false;
    int16_t experts = -1, experts_total = -1;
    int64_t bytes = 0, start_ns = 0, end_ns = 0;
};
struct Wait { ///< the runtime waited
    int32_t split = -1;
    BackendId backend = no_backend; ///< for its work, or for its driver to compile; none: for the trace writer, or for a user
    int64_t start_ns = 0, end_ns = 0;
    int32_t n_shaders = 0; ///< that the driver compiled meanwhile; 0: it was no such wait
    bool held = false;     ///< by the inspector, for its user
};
struct Sample { ///< one sampler of a sequence's chain did its part for the token that follows
    int32_t sequence = 0;
    BackendId backend = no_backend; ///< none: on the host after the graph
    StringId sampler = 0, why_not_in_graph = 0;
    int32_t candidates = 0;      ///< left after it
    bool refused = false;        ///< the backend lacks an operator that it needs
    int32_t n_nodes = 0;         ///< that it added to the graph
    TensorId tensor = no_tensor; ///< the last of them; the others have the ids before it
};
struct NextToken {
    int32_t sequence = 0;
    std::optional<int32_t> token = -1; ///< not known with --no-text, nor is the text
    int32_t position = 0;
    std::optional<StringId> text = 0;
    int32_t candidates = 0;
    int64_t host_bytes = 0; ///< copied to the host to choose it
};
/// What a watched tensor held as soon as it was computed; min to norm are of its finite elements, NaN where there is none.
struct Value {
    TensorId tensor = no_tensor;
    StringId device = 0; ///< that computed it once more, to be compared; empty: what its backend computed
    int64_t n_elements = 0, n_nan = 0, n_inf = 0;
    double min = 0, max = 0, mean = 0, norm = 0; ///< norm: the root of the sum of squares
};
struct ValueElement { ///< first elements of a tensor, after its Value
    TensorId tensor = no_tensor;
    int32_t index = 0;
    double value = 0;
};
/// How many finite elements lie in one of the n_value_buckets equal parts between min and max (the last part includes max),
/// after the Value; parts without any are left out.
struct ValueBucket {
    TensorId tensor = no_tensor;
    int32_t index = 0;
    int64_t count = 0;
};
constexpr int n_value_buckets = 32;
/// Verification: after a node ran, another device computed it from the same inputs, and the two results were compared element
/// by element; or they were not, and `why` says so.
struct Difference {
    TensorId tensor = no_tensor;
    BackendId backend = no_backend; ///< that ran the node: the reference, where they were compared
    bool compared = true;
    bool beyond = false; ///< the error is beyond the tolerance
    StringId device = 0; ///< that computed it once more
    StringId why = 0;    ///< what no error measures ("NaN differs"), or why they were not compared; empty: the error says it all
    int64_t element =
        -1; ///< that differs most, or first where `why` says how: i0 + ne0 × (i1 + ne1 × (i2 + ne2 × i3)); −1: none differs
    double nmse =
        0; ///< Σ(a − b)² / Σb², b: the reference's; infinite where nothing can be measured, NaN where nothing was compared
    double tolerance = 0; ///< for the error; NaN where nothing was compared
    double max_error = 0; ///< the largest difference of two finite elements, without its sign; NaN where `why` is not empty
    double value = 0, expected = 0; ///< of `element`: the device's and the reference's
};
/// One of the backends that a plan had to choose from, in their order: a program may have several schedulers, each with its own.
/// Without these it is all of the session's.
struct PlanBackend {
    int32_t scheduler = 0; ///< whose plan it is: what it keeps from plan to plan is its own
    int32_t place = 0;     ///< by priority, 0 highest
    BackendId backend = no_backend;
    BufferTypeId buffer_type = no_buffer_type; ///< of what it computes; none: the backend's default
};
/// A tensor whose memory a backend's optimise step wants to keep until a node is done; ten of a node are one entry of the graph
/// that memory is planned for.
struct Kept {
    TensorId node = no_tensor, tensor = no_tensor;
};
/// Another program's plan was made again from its graph and its backends' answers, and compared with what its scheduler did.
/// Where they differ, backends, splits and inputs are what it did, and no cause is verified.
struct Verdict {
    StringId rules = 0; ///< RulesAge::name
    int32_t decisions = 0, identical = 0;
    std::optional<int32_t> placements = 0, placements_identical = 0; ///< not known: memory was not watched from its birth
    int32_t causes = 0, causes_identical = 0;                        ///< that the scheduler printed
    StringId first = 0;                                              ///< the first difference, in words; empty: there is none
    TensorId tensor = no_tensor;                                     ///< that it is about

    bool reproduced() const noexcept {
        return decisions == identical && placements == placements_identical && causes == causes_identical;
    }
};

} // namespace record

using Fact = std::variant<record::EvaluationBegin, record::EvaluationEnd, record::UbatchToken, record::PlanBegin, record::PlanEnd,
                          record::PassBegin, record::PassEnd, record::BackendQuery, record::Assign, record::SplitBegin,
                          record::SplitEnd, record::SplitInput, record::CopyMade, record::Rewired, record::GraphInput,
                          record::Reorder, record::Fusion, record::NotFused, record::Reallocation, record::BufferSize,
                          record::Placement, record::Execute, record::SplitRun, record::Transfer, record::Wait, record::Sample,
                          record::NextToken, record::Value, record::ValueElement, record::ValueBucket, record::Alternative,
                          record::Pin, record::Reserve, record::Difference, record::PlanBackend, record::Kept, record::Verdict>;

/// What a kernel of a split is, whenever it runs: record::Execute without its times.
struct KernelInfo {
    TensorId first = no_tensor, last = no_tensor; ///< last is the one whose data is written
    int16_t count = 1;                            ///< nodes that run in it
    StringId kernel = 0;
    int64_t bytes = 0, flops = 0;

    bool operator==(const KernelInfo&) const = default;
};
using KernelList = std::vector<KernelInfo>; ///< in the order in which they run

struct Record {
    Step step = no_step;
    Known<int64_t> time_ns = 0;
    EvaluationId evaluation = 0;
    Fact fact;
};
static_assert(std::is_trivially_copyable_v<Record>);

/// The tensor a record is about, or none.
TensorId subject(const Fact& fact) noexcept;

/// A backend of the session as records know it.
struct BackendInfo {
    std::string name;                ///< "Vulkan0", "Vulkan0.1"
    std::string device;              ///< "Vulkan0"
    std::optional<std::string> kind; ///< gpu | cpu | blas | software
    std::string description;
    std::optional<int64_t> memory_bytes = {};
    std::optional<BufferTypeId> default_buffer_type = {};
    std::vector<uint8_t> supports_buffer_type = {}; ///< [n_buffer_types]
    std::optional<KernelTimes> kernel_times = {};   ///< how closely its work is timed; absent: not known
    std::optional<bool> keeps_order = {}; ///< runs nodes as they are planned and fuses none, whatever its kind; absent: not known
};
struct BufferTypeInfo {
    std::string name;
    bool is_host = false;
    std::optional<int64_t> alignment = 32;
    std::optional<int64_t> max_size = -1; ///< −1: unlimited
};

/// What a trace may have or lack as a whole. Single facts of a topic that it has may still be unknown.
enum class Topic : uint8_t {
    answers, ///< what each backend answered about each tensor: all that planning again needs
    passes,  ///< when each pass began and ended, what it asked, and each decision that a later one changed
    shapes,  ///< tensors' types, shapes, strides, parameters and views
    memory,  ///< where each tensor lies in the memory that was planned
    order,   ///< what was moved
    times,   ///< when each record was written
    runs,    ///< which splits, kernels and copies ran
    tokens,  ///< what went in and what was sampled
    reuse,   ///< whether a graph was used again, and why not
    buffers, ///< tensors' buffers before planning, what they are for, and pins
    fusion,  ///< what was fused, and what might have been
    count,   ///< how many topics there are
};
std::string_view topic_name(Topic topic) noexcept;  ///< "answers"
std::string_view topic_words(Topic topic) noexcept; ///< behind "this trace has no": "answers of backends"

/// Who writes a trace says what it lacks; readers ask it, and not where the trace came from.
class Knowledge {
public:
    bool has(Topic topic) const noexcept { return (lacking_ >> static_cast<unsigned>(topic) & 1) == 0; }
    void lack(Topic topic) noexcept { lacking_ |= 1U << static_cast<unsigned>(topic); }
    std::string closely; ///< how closely times were taken, in words; empty: each record has its own, in nanoseconds

private:
    uint32_t lacking_ = 0;
};

/// What is the same for the whole trace.
struct SessionInfo {
    Knowledge knows = {};
    std::vector<BackendInfo> backends; ///< by priority
    std::vector<BufferTypeInfo> buffer_types;
    std::vector<std::string> own_operators, own_types;           ///< words of the program's that this build does not have
    std::optional<PlanSettings> settings;                        ///< none: they are not known
    std::shared_ptr<const std::vector<ModelHeader>> models = {}; ///< that are run, the text model first; null: they are not known
    std::vector<std::pair<std::string, std::string>>
        facts; ///< for people, in order: "command", "model", "architecture", "n_ctx", …; no code decides anything by them
};

/// For people: the facts, then the settings in words.
std::vector<std::pair<std::string, std::string>> shown_facts(const SessionInfo& session);

/// One of them, by its name; empty when there is none.
std::string session_fact(const SessionInfo& session, std::string_view key);

} // namespace schedscope
