#pragma once

#include "runtime/planner/records.h"

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

/// The fields of every record kind, by name and meaning, in one place: the file's schema, the writer, the reader's checks and the
/// export are all made from this table. A record kind of its own is a struct in records.h and one entry here.
namespace schedscope {

/// What a field's number means, and so what range a reader may accept. Enumerations, booleans and real numbers say it by their
/// type.
enum class Meaning : uint8_t {
    plain,       ///< any number of its type
    count,       ///< 0 or more
    index,       ///< −1 or more
    split,       ///< index of a split, −1 for none; at most the number of nodes
    node_index,  ///< position among the nodes; at most their number
    backend,     ///< −1: none
    buffer_type, ///< −1: none
    tensor,      ///< of the evaluation's graph, or a copy; −1: none
    text,        ///< StringId
    kernels,     ///< KernelListId
    graph,
    evaluation,
};

template <typename T> struct KnownValue { using Type = T; };
template <typename T> struct KnownValue<std::optional<T>> { using Type = T; };
template <typename T> struct KnownValue<Known<T>> { using Type = T; };

/// A field's value, or null where it is not known.
template <typename T> constexpr const T* known(const T& value) noexcept { return &value; }
template <typename T> constexpr const T* known(const std::optional<T>& value) noexcept { return value ? &*value : nullptr; }
template <typename T> constexpr const T* known(const Known<T>& value) noexcept { return value ? &*value : nullptr; }

template <typename Record, typename T> struct RecordField {
    using Member = T;
    using Value = typename KnownValue<T>::Type;
    static constexpr bool may_be_unknown = !std::is_same_v<T, Value>; ///< NULL in the file, an empty optional here
    const char* name;
    T Record::*member;
    Meaning meaning;
    int since; ///< the minor version of the format that it came with; in older files it is 0. Such fields are the last ones
};

template <typename Record, typename T>
constexpr RecordField<Record, T> field(const char* name, T Record::*member, Meaning meaning = Meaning::plain, int since = 0) {
    return {name, member, meaning, since};
}

/// Specialised per record: `name` is its kind in lines of JSON, streams and queries, `table` the name of its table (the same
/// where nothing else is said), `fields` its columns in order.
template <typename Record> struct Kind;

/// Kernels and their split are stored together, a row of `split_run` for all that ran in one piece, and are records of their own
/// to whoever reads.
template <typename Record>
constexpr bool stored_in_split_run = std::is_same_v<Record, record::Execute> || std::is_same_v<Record, record::SplitRun>;

/// The minor version of the format that the kind came with; older files have no such table, and no record of it.
template <typename Record>
constexpr int since_minor =
    std::is_same_v<Record, record::PlanBackend> || std::is_same_v<Record, record::Kept> || std::is_same_v<Record, record::Verdict>
        ? 1
        : 0;

#define SCHEDSCOPE_KIND_IN(TABLE, NAME, WORD, ...)                                                                               \
    template <> struct Kind<record::NAME> {                                                                                      \
        using R = record::NAME;                                                                                                  \
        static constexpr std::string_view name = WORD;                                                                           \
        static constexpr const char* table = TABLE;                                                                              \
        static constexpr auto fields = std::make_tuple(__VA_ARGS__);                                                             \
    }

#define SCHEDSCOPE_KIND(NAME, WORD, ...) SCHEDSCOPE_KIND_IN(WORD, NAME, WORD, __VA_ARGS__)

// clang-format off
SCHEDSCOPE_KIND(EvaluationBegin, "evaluation_begin",
    field("kind", &R::kind), field("reused", &R::reused), field("observed", &R::observed), field("n_tokens", &R::n_tokens, Meaning::count),
    field("n_sequences", &R::n_sequences, Meaning::count), field("n_outputs", &R::n_outputs, Meaning::count),
    field("planned_in", &R::planned_in, Meaning::evaluation), field("failed_check", &R::failed_check, Meaning::text));
SCHEDSCOPE_KIND(EvaluationEnd, "evaluation_end",
    field("failed", &R::failed), field("error", &R::error, Meaning::text));
SCHEDSCOPE_KIND(UbatchToken, "ubatch_token",
    field("token", &R::token, Meaning::index), field("sequence", &R::sequence), field("position", &R::position), field("output", &R::output));
SCHEDSCOPE_KIND_IN("plan", PlanBegin, "plan_begin",
    field("graph", &R::graph, Meaning::graph), field("n_nodes", &R::n_nodes, Meaning::count), field("n_leafs", &R::n_leafs, Meaning::count),
    field("n_stages", &R::n_stages, Meaning::count), field("current_stage", &R::current_stage, Meaning::count), field("op_offload", &R::op_offload));
SCHEDSCOPE_KIND(PlanEnd, "plan_end",
    field("n_splits", &R::n_splits, Meaning::count), field("n_copies", &R::n_copies, Meaning::count), field("error", &R::error, Meaning::text));
SCHEDSCOPE_KIND_IN("pass", PassBegin, "pass_begin",
    field("pass", &R::pass));
SCHEDSCOPE_KIND(PassEnd, "pass_end",
    field("pass", &R::pass));
SCHEDSCOPE_KIND(BackendQuery, "query",
    field("pass", &R::pass), field("question", &R::question), field("yes", &R::yes), field("reason", &R::reason),
    field("backend", &R::backend, Meaning::backend), field("buffer_type", &R::buffer_type, Meaning::buffer_type),
    field("tensor", &R::tensor, Meaning::tensor), field("detail", &R::detail, Meaning::text));
SCHEDSCOPE_KIND(Assign, "assign",
    field("pass", &R::pass), field("cause", &R::cause), field("source", &R::source, Meaning::index), field("before", &R::before, Meaning::backend),
    field("after", &R::after, Meaning::backend), field("tensor", &R::tensor, Meaning::tensor), field("by", &R::by, Meaning::tensor));
SCHEDSCOPE_KIND_IN("split", SplitBegin, "split_begin",
    field("idx", &R::index, Meaning::split), field("why", &R::why), field("backend", &R::backend, Meaning::backend),
    field("first_node", &R::first_node, Meaning::node_index), field("node", &R::node, Meaning::tensor), field("by", &R::by, Meaning::tensor));
SCHEDSCOPE_KIND(SplitEnd, "split_end",
    field("idx", &R::index, Meaning::split), field("end_node", &R::end_node, Meaning::node_index), field("n_inputs", &R::n_inputs, Meaning::count));
SCHEDSCOPE_KIND(SplitInput, "split_input",
    field("split", &R::split, Meaning::split), field("tensor", &R::tensor, Meaning::tensor), field("node", &R::node, Meaning::tensor),
    field("source_backend", &R::from, Meaning::backend), field("bytes", &R::bytes, Meaning::count));
SCHEDSCOPE_KIND_IN("copy", CopyMade, "copy_made",
    field("copy", &R::copy, Meaning::tensor), field("original", &R::of, Meaning::tensor), field("backend", &R::backend, Meaning::backend),
    field("stage", &R::stage, Meaning::count), field("graph_input", &R::graph_input), field("bytes", &R::bytes, Meaning::count));
SCHEDSCOPE_KIND_IN("rewire", Rewired, "rewired",
    field("node", &R::node, Meaning::tensor), field("source", &R::source, Meaning::index), field("original", &R::original, Meaning::tensor),
    field("copy", &R::copy, Meaning::tensor));
SCHEDSCOPE_KIND(GraphInput, "graph_input",
    field("tensor", &R::tensor, Meaning::tensor));
SCHEDSCOPE_KIND(Reorder, "reorder",
    field("split", &R::split, Meaning::split), field("node", &R::node, Meaning::tensor), field("place_before", &R::from, Meaning::node_index),
    field("place_after", &R::to, Meaning::node_index));
SCHEDSCOPE_KIND(Fusion, "fusion",
    field("split", &R::split, Meaning::split), field("backend", &R::backend, Meaning::backend), field("first", &R::first, Meaning::node_index),
    field("count", &R::count, Meaning::node_index), field("kernel", &R::kernel, Meaning::text));
SCHEDSCOPE_KIND(NotFused, "not_fused",
    field("split", &R::split, Meaning::split), field("backend", &R::backend, Meaning::backend), field("first", &R::first, Meaning::tensor),
    field("second", &R::second, Meaning::tensor), field("why", &R::why, Meaning::text));
SCHEDSCOPE_KIND(Reallocation, "reallocation",
    field("reason", &R::reason, Meaning::text), field("node", &R::node, Meaning::tensor), field("source", &R::source, Meaning::index));
SCHEDSCOPE_KIND(BufferSize, "buffer_size",
    field("buffer_type", &R::buffer_type, Meaning::buffer_type), field("chunk", &R::chunk, Meaning::count), field("size", &R::size, Meaning::count),
    field("size_before", &R::before, Meaning::count));
SCHEDSCOPE_KIND(Placement, "placement",
    field("tensor", &R::tensor, Meaning::tensor), field("in_place_of", &R::in_place_of, Meaning::tensor),
    field("buffer_type", &R::buffer_type, Meaning::buffer_type), field("chunk", &R::chunk, Meaning::count), field("first_use", &R::first_use, Meaning::index),
    field("last_use", &R::last_use, Meaning::index), field("offset", &R::offset, Meaning::count), field("size", &R::size, Meaning::count));
SCHEDSCOPE_KIND_IN("split_run", Execute, "execute",
    field("split", &R::split, Meaning::split), field("backend", &R::backend, Meaning::backend), field("device_time", &R::device_time),
    field("count", &R::count, Meaning::count), field("first", &R::first, Meaning::tensor), field("last", &R::last, Meaning::tensor),
    field("kernel", &R::kernel, Meaning::text), field("start_ns", &R::start_ns), field("end_ns", &R::end_ns), field("bytes", &R::bytes, Meaning::count),
    field("flops", &R::flops, Meaning::count));
SCHEDSCOPE_KIND(SplitRun, "split_run",
    field("split", &R::split, Meaning::split), field("backend", &R::backend, Meaning::backend), field("start_ns", &R::start_ns), field("end_ns", &R::end_ns),
    field("kernels", &R::kernels, Meaning::kernels));
SCHEDSCOPE_KIND(Transfer, "transfer",
    field("split", &R::split, Meaning::split), field("tensor", &R::tensor, Meaning::tensor), field("copy", &R::copy, Meaning::tensor),
    field("source_backend", &R::from, Meaning::backend), field("backend", &R::to, Meaning::backend), field("async", &R::async),
    field("experts", &R::experts, Meaning::index), field("experts_total", &R::experts_total, Meaning::index), field("bytes", &R::bytes, Meaning::count),
    field("start_ns", &R::start_ns), field("end_ns", &R::end_ns));
SCHEDSCOPE_KIND(Wait, "wait",
    field("split", &R::split, Meaning::split), field("backend", &R::backend, Meaning::backend), field("start_ns", &R::start_ns), field("end_ns", &R::end_ns),
    field("n_shaders", &R::n_shaders, Meaning::count, 3), field("held", &R::held, Meaning::plain, 5));
SCHEDSCOPE_KIND(Sample, "sample",
    field("sequence", &R::sequence), field("backend", &R::backend, Meaning::backend), field("sampler", &R::sampler, Meaning::text),
    field("why_not_in_graph", &R::why_not_in_graph, Meaning::text), field("candidates", &R::candidates, Meaning::count),
    field("refused", &R::refused), field("n_nodes", &R::n_nodes, Meaning::count),
    field("tensor", &R::tensor, Meaning::tensor));
SCHEDSCOPE_KIND(NextToken, "token",
    field("sequence", &R::sequence), field("token", &R::token, Meaning::index), field("position", &R::position), field("text", &R::text, Meaning::text),
    field("candidates", &R::candidates, Meaning::count), field("host_bytes", &R::host_bytes, Meaning::count));
SCHEDSCOPE_KIND(Value, "value",
    field("tensor", &R::tensor, Meaning::tensor), field("n_elements", &R::n_elements, Meaning::count), field("n_nan", &R::n_nan, Meaning::count),
    field("n_inf", &R::n_inf, Meaning::count), field("min", &R::min), field("max", &R::max), field("mean", &R::mean), field("norm", &R::norm),
    field("device", &R::device, Meaning::text));
SCHEDSCOPE_KIND(ValueElement, "value_element",
    field("tensor", &R::tensor, Meaning::tensor), field("idx", &R::index, Meaning::count), field("value", &R::value));
SCHEDSCOPE_KIND(ValueBucket, "value_bucket",
    field("tensor", &R::tensor, Meaning::tensor), field("idx", &R::index, Meaning::count), field("count", &R::count, Meaning::count));
SCHEDSCOPE_KIND(Alternative, "alternative",
    field("graph", &R::graph, Meaning::graph), field("setting", &R::setting, Meaning::text));
SCHEDSCOPE_KIND(Pin, "pin",
    field("tensor", &R::tensor, Meaning::tensor), field("backend", &R::backend, Meaning::backend),
    field("buffer_type", &R::buffer_type, Meaning::buffer_type), field("why", &R::why, Meaning::text));
SCHEDSCOPE_KIND(Reserve, "reserve",
    field("graph", &R::graph, Meaning::graph), field("n_tokens", &R::n_tokens, Meaning::count), field("error", &R::error, Meaning::text));
SCHEDSCOPE_KIND(Difference, "difference",
    field("tensor", &R::tensor, Meaning::tensor), field("backend", &R::backend, Meaning::backend), field("compared", &R::compared),
    field("beyond", &R::beyond), field("device", &R::device, Meaning::text), field("why", &R::why, Meaning::text),
    field("element", &R::element, Meaning::index), field("nmse", &R::nmse), field("tolerance", &R::tolerance),
    field("max_error", &R::max_error), field("value", &R::value), field("expected", &R::expected));
SCHEDSCOPE_KIND(PlanBackend, "plan_backend",
    field("scheduler", &R::scheduler, Meaning::count), field("place", &R::place, Meaning::count), field("backend", &R::backend, Meaning::backend),
    field("buffer_type", &R::buffer_type, Meaning::buffer_type));
SCHEDSCOPE_KIND(Kept, "kept",
    field("node", &R::node, Meaning::tensor), field("tensor", &R::tensor, Meaning::tensor));
SCHEDSCOPE_KIND(Verdict, "verdict",
    field("rules", &R::rules, Meaning::text), field("decisions", &R::decisions, Meaning::count), field("identical", &R::identical, Meaning::count),
    field("placements", &R::placements, Meaning::count), field("placements_identical", &R::placements_identical, Meaning::count),
    field("causes", &R::causes, Meaning::count), field("causes_identical", &R::causes_identical, Meaning::count),
    field("first", &R::first, Meaning::text), field("tensor", &R::tensor, Meaning::tensor));
// clang-format on

#undef SCHEDSCOPE_KIND
#undef SCHEDSCOPE_KIND_IN

template <typename Record> constexpr size_t n_fields = std::tuple_size_v<decltype(Kind<Record>::fields)>;

/// Calls `f(field)` for each field of a record kind, in order.
template <typename Record, typename F> constexpr void for_each_field(F&& f) {
    std::apply([&](const auto&... each) { (f(each), ...); }, Kind<Record>::fields);
}

/// Calls `f.template operator()<Record>(index)` for each record kind, in the order of Fact.
template <typename F> constexpr void for_each_kind(F&& f) {
    [&]<size_t... I>(std::index_sequence<I...>) { (f.template operator()<std::variant_alternative_t<I, Fact>>(I), ...); }
    (std::make_index_sequence<std::variant_size_v<Fact>>{});
}

/// "evaluation_begin", "assign", …
inline std::string_view fact_name(const Fact& fact) noexcept {
    return std::visit([]<typename T>(const T&) { return Kind<T>::name; }, fact);
}

/// The kind of an enumeration's words in the table `word`.
template <typename E> constexpr const char* word_kind() noexcept {
    if constexpr (std::is_same_v<E, Pass>) {
        return "pass";
    } else if constexpr (std::is_same_v<E, Cause>) {
        return "cause";
    } else if constexpr (std::is_same_v<E, SplitReason>) {
        return "split_reason";
    } else if constexpr (std::is_same_v<E, GraphKind>) {
        return "graph_kind";
    } else if constexpr (std::is_same_v<E, Question>) {
        return "question";
    } else {
        static_assert(std::is_same_v<E, Refusal>);
        return "refusal";
    }
}

/// The greatest value of an enumeration that records use.
template <typename E> constexpr E greatest() noexcept {
    if constexpr (std::is_same_v<E, Pass>) {
        return Pass::execute;
    } else if constexpr (std::is_same_v<E, Cause>) {
        return Cause::copy;
    } else if constexpr (std::is_same_v<E, SplitReason>) {
        return SplitReason::full;
    } else if constexpr (std::is_same_v<E, GraphKind>) {
        return GraphKind::reserve;
    } else if constexpr (std::is_same_v<E, Question>) {
        return Question::offload;
    } else {
        static_assert(std::is_same_v<E, Refusal>);
        return Refusal::not_asked;
    }
}

} // namespace schedscope
