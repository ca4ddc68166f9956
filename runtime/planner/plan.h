#pragma once

#include "runtime/planner/capabilities.h"
#include "runtime/planner/graph_view.h"
#include "runtime/planner/rules.h"

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

class Recorder;
struct SessionInfo;

/// Where in the making of a plan a record was written. Shown and typed as 1 2a 2b 2c 2d 3 4 5 optimise allocate execute.
enum class Pass : uint8_t {
    none,
    place,
    gpu_down,
    gpu_up,
    rest_down,
    rest_up,
    refine,
    sources,
    split,
    optimise,
    allocate,
    execute,
    count
};

std::string_view pass_name(Pass pass) noexcept;  ///< "2a"
std::string_view pass_title(Pass pass) noexcept; ///< "gpu down"
/// Nothing else is a pass: returns Pass::count.
Pass pass_from_name(std::string_view name) noexcept;

/// The rule that made an assignment. weight N: 1.wgtN, N in `Assignment::source`.
enum class Cause : uint8_t {
    none,
    user,
    dst,
    view_source,
    input,
    offload,
    weight,
    supported,
    best,
    upgrade,
    source_view,
    source_current,
    copy
};

/// "usr" "1.dst" "1.vsrc" "1.inp" "1.off" "1.wgt0" "2.sup" "3.best" "3.upg" "4.vsrc" "4.cur" "4.cpy", "" for none.
std::string cause_name(Cause cause, int source);
/// The rule in a few words: "its weight lies there"; "" for none.
std::string_view cause_meaning(Cause cause) noexcept;

/// Name of a copy: "BACKEND#tensor#stage", at most 63 bytes.
std::string copy_name(std::string_view backend, std::string_view tensor, int stage);

/// What the planner knows of one tensor at the end (or at any time while it works).
struct Assignment {
    BackendId backend = no_backend;
    Cause cause = Cause::none;
    int8_t source = -1; ///< with Cause::weight (and offload): the source that is the weight
};

enum class SplitReason : uint8_t { first, backend, weight, full };
std::string_view split_reason_name(SplitReason reason) noexcept; ///< first | backend | weight | full

struct Split {
    BackendId backend = no_backend;
    SplitReason why = SplitReason::first;
    int32_t first_node = 0;  ///< index into the graph's nodes
    int32_t end_node = 0;    ///< one past the last
    int32_t first_input = 0; ///< index into Plan::split_inputs
    int32_t n_inputs = 0;
};

/// A tensor made by pass 5. Its id follows the graph's: n_tensors + index in Plan::copies. Type, shape and strides are the
/// original's. A group of `n_stages` copies of one tensor on one backend lies together, in order of stage; when the original
/// itself serves as the copy of a stage, that entry's `id` is the original's.
struct Copy {
    TensorId id = no_tensor;
    TensorId of = no_tensor;
    BackendId backend = no_backend;
    int16_t stage = 0;
};

struct Rewire {
    TensorId node = no_tensor;
    int32_t source = 0; ///< which source slot
    TensorId original = no_tensor;
    TensorId copy = no_tensor; ///< the copy of the current stage
};

/// For the records only: why a tensor lies where it does, or is pinned.
struct PlanNote {
    TensorId tensor = no_tensor;
    std::string_view why;
};
/// For the records only: a recorded graph that would have been planned with another setting.
struct PlanAlternative {
    int32_t graph_id = 0;     ///< −1: the plan's own; the setting changes nothing in it
    std::string_view setting; ///< "fa=off"
};

/// graph_id: of the graph that they are alternatives to.
void record_alternatives(std::span<const PlanAlternative> alternatives, int32_t graph_id, Recorder& recorder);

/// What decides besides the graph and the capabilities.
struct PlanOptions {
    bool op_offload = true;
    int32_t n_stages = 1; ///< copies per input: 1, or 4 with pipeline parallelism
    int32_t current_stage = 0;
    int64_t offload_min_batch = 0; ///< what the backends were told to offload from; for the words of a refusal, 0: not known
    std::string_view offload_option = "--offload-min-batch"; ///< or variable that said it; the same
    int32_t graph_id = 0;                                    ///< GraphId for the records
    PlannerRules rules = {};
    bool reserve = false;                          ///< the graph is planned for its memory alone
    std::span<const PlanNote> notes;               ///< written to the recorder when the plan begins
    std::span<const PlanAlternative> alternatives; ///< the same
    const SessionInfo* session = nullptr;          ///< names for error sentences; null: numbers are shown
};

/// Memory that the passes use again from plan to plan; no decision depends on what is left in it.
struct PlanScratch {
    std::vector<BufferTypeId> home;         ///< [n_tensors] type of the buffer that the tensor (or its view source) lies in
    std::vector<TensorId> active;           ///< nodes that are not view ops, in order
    std::vector<uint8_t> usable;            ///< [n_buffer_types × n_backends] the backend can use the buffer type
    std::vector<BufferTypeId> default_type; ///< [n_backends]
    std::vector<uint8_t> may_upgrade;       ///< [n_backends] a higher-priority backend has the same default buffer type
};

/// What a scheduler keeps between graphs (it survives resets): room for split inputs by split number, split 0's backend.
struct Carry {
    std::vector<int32_t> input_capacity; ///< by split index; 0 at first, 30 with the first input, doubled when overflown
    BackendId first_backend = 0;         ///< of split 0 in the previous graph
    PlanScratch scratch;
};

/// All that passes 1 to 5 decided for one graph.
struct Plan {
    int32_t n_tensors = 0; ///< of the graph; ids from here on are copies
    int32_t n_stages = 1;
    int32_t current_stage = 0;
    PlannerRules rules;
    bool reserve = false;
    std::vector<Assignment> assignments; ///< by tensor id, copies behind
    std::vector<int64_t> bytes; ///< by tensor id, copies behind: needed in a compute buffer; −1: a view, or allocated before
    std::vector<uint16_t> source_masks; ///< [n_tensors] bit N: the tensor has a source N
    std::vector<uint8_t> flags;         ///< by tensor id, copies behind; pass 5 adds input and output to stages
    std::vector<Split> splits;
    std::vector<TensorId> split_inputs; ///< original tensors, by split
    std::vector<Copy> copies;
    std::vector<Rewire> rewires;        ///< in node order
    std::vector<TensorId> graph_inputs; ///< n_stages > 1: inputs that are kept once per stage

    /// Index into `copies` of stage 0 of `of`'s copies on `backend`; −1: none.
    int32_t find_copies(TensorId of, BackendId backend) const noexcept;
    std::vector<int32_t> copy_index; ///< [n_tensors × n_backends] what find_copies looks up
    int32_t n_backends = 0;
};

/// No plan is possible; what was decided before is in the recorder. `error_class` is one of the corpus's words:
/// preallocated_unsupported, node_unassigned, src_unassigned, alloc_unassigned, alloc_stale_record.
class PlanError : public std::runtime_error {
public:
    PlanError(std::string error_class, Pass where, TensorId tensor, const std::string& sentence)
        : std::runtime_error(sentence), error_class(std::move(error_class)), where(where), tensor(tensor) {}
    std::string error_class;
    Pass where;
    TensorId tensor;
};

/// Called after each pass and sweep with the assignments so far. For tests and views; null in normal runs.
class PassObserver {
public:
    virtual ~PassObserver() = default;
    virtual void after(Pass pass, const Plan& plan) = 0;
};

/// Passes 1 to 5. `plan` is an out parameter so that its memory is used again: a steady loop allocates nothing.
/// Throws PlanError (what was decided before it is in the recorder and in `plan`). recorder and observer may be null.
void make_plan(const GraphView& graph, const Capabilities& capabilities, const PlanOptions& options, Carry& carry, Plan& plan,
               Recorder* recorder, PassObserver* observer = nullptr);

} // namespace schedscope
