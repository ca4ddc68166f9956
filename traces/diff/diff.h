#pragma once

#include "traces/history/history.h"
#include "traces/history/measure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// What differs between two traces. Evaluations are paired in order by kind and shape (those of a trace that knows neither, by
/// what their plans compute), their graphs aligned by structure (align.h), and what was decided for the tensors that both have is
/// compared. Backends and their memory are the same as said in same_devices.h, other buffer types and kernels when their names
/// are. Graphs that only reserved memory are compared where both traces have such.
namespace schedscope::diff {

enum class What : uint8_t {
    evaluation, ///< only one of them has it
    failure,    ///< it failed, or its plan did, with other words
    reuse,      ///< whether the graph before was used again, and the check that failed
    prompt,     ///< the tokens that went in (not those that were generated)
    node,       ///< a tensor that only one graph has
    type,       ///< of a tensor that both have, as the next five
    shape,
    layout,      ///< strides or offset in the tensor it is a view of, where type and shape are the same
    parameters,  ///< of its operator, where type and shape are the same
    source,      ///< it is computed from another tensor
    flags,       ///< input, output; what its memory is for
    memory_home, ///< its own buffer lies elsewhere, though it is assigned to the same backend
    pinned,      ///< by the user
    assignment,  ///< the backend
    cause,       ///< the same backend by another rule
    pass,        ///< the same backend and rule in another pass
    split,
    input, ///< of a split that both have
    copy,
    fusion,
    not_fused,
    reorder,   ///< the place among the nodes that both have
    buffer,    ///< size of a compute buffer
    peak,      ///< how much of it the plan uses
    placement, ///< where a tensor lies
    replan,    ///< why memory was planned again
    verdict,   ///< of verifications: beyond tolerance or within, or not compared
    token,
    sampler, ///< the chain that chose a token, and what of it ran in the graph
    count,
};
std::string_view what_name(What what) noexcept; ///< "assignment", "memory_home"

/// Nothing, a number, a text, a list of texts.
using DiffValue = std::variant<std::monostate, int64_t, std::string, std::vector<std::string>>;

struct TraceDifference {
    What what = What::node;
    EvaluationId eval_a = -1, eval_b = -1;                 ///< −1: about none
    TensorId id_a = no_tensor, id_b = no_tensor;           ///< of the tensor that it is about
    std::string subject;                                   ///< the tensor, buffer type, … as a calls it; where a has none, b
    std::string renamed;                                   ///< what b calls it, where that is something else
    DiffValue a, b;                                        ///< nothing: that trace has none
    std::string note;                                      ///< for people: "by 1.wgt0 → 1.off"
    std::vector<std::pair<std::string, DiffValue>> more{}; ///< for programs, by name
};

/// A setting of the session. It is no difference by itself.
struct Setting {
    std::string name;
    std::optional<std::string> a, b; ///< nothing: not said
    bool one_sided() const noexcept { return !a || !b; }
};
/// Those that only one trace knows, where they are many: the two were made by different programs, and they are told together.
/// Else none.
std::vector<const Setting*> told_together(const std::vector<Setting>& settings);

/// How much of everything there is in a plan of each. In order, with the same names for both traces.
struct DiffSummary {
    std::optional<GraphKind> kind;
    EvaluationId eval_a = -1, eval_b = -1;
    std::vector<Measure> measures;
};

/// Times never make traces different: no two runs take the same time.
struct Time {
    std::string what;                      ///< total (of a kind of evaluation, each from begin to end) | split | kernel
    std::string name;                      ///< "decode", "split at Qcur-3", "mul_mat_f32"
    std::string backend;                   ///< with split (a's; b's where only b has it) and kernel
    EvaluationId eval_a = -1, eval_b = -1; ///< with split
    std::optional<int64_t> a_ns, b_ns;     ///< nothing: it did not run, or not each of its runs was timed
    int64_t a_runs = 0, b_runs = 0;
    std::optional<int32_t> a_index = {}, b_index = {}; ///< with split: its number in each; nothing: that trace has none there
};

struct DiffOptions {
    std::optional<EvaluationId> evaluation; ///< of a: this one and its partner only
};

struct Result {
    bool identical() const noexcept { return differences.empty(); }
    int64_t evaluations = 0; ///< pairs compared
    int64_t decisions = 0;   ///< compared
    std::vector<Setting> settings;
    std::vector<TraceDifference> differences; ///< by evaluation, then by kind, then in the graph's order
    std::vector<DiffSummary> summaries;       ///< of the first pair of plans of each kind
    std::vector<Time> times;
};

/// One of what there is for programs; nothing: the difference has none of that name.
DiffValue more_of(const TraceDifference& difference, std::string_view name);
/// A value for people: a size in units, a token in quotes, a list with spaces; "" for nothing.
std::string value_text(What what, const DiffValue& value);
/// Both sides; sizes that look alike in units are in bytes, what a log rounded is "about 0.89 MiB".
std::pair<std::string, std::string> value_texts(const TraceDifference& difference);

/// Throws Error(usage) when a has no such evaluation, Error(input) when a trace can't be read.
Result compare(History& a, History& b, const DiffOptions& options = {});

/// "prefill of 42 tokens"; of one whose use a log does not say "graph of 161 nodes".
std::string kind_and_size(const RecordSource& source, EvaluationId evaluation);

/// The partner of each evaluation; a pair without one has −1 for it. In a's order, what only b has in its place.
std::vector<std::pair<EvaluationId, EvaluationId>> pair_evaluations(const RecordSource& a, const RecordSource& b);

} // namespace schedscope::diff
