#include "runtime/planner/records.h"

#include <type_traits>

namespace schedscope {

namespace {

constexpr std::string_view fact_names[] = {
    "evaluation_begin",
    "evaluation_end",
    "ubatch_token",
    "plan_begin",
    "plan_end",
    "pass_begin",
    "pass_end",
    "query",
    "assign",
    "split_begin",
    "split_end",
    "split_input",
    "copy_made",
    "rewired",
    "graph_input",
    "reorder",
    "fusion",
    "not_fused",
    "reallocation",
    "buffer_size",
    "placement",
    "execute",
    "split_run",
    "transfer",
    "wait",
    "sample",
    "token",
    "value",
    "value_element",
    "value_bucket",
    "alternative",
    "pin",
    "reserve",
    "difference",
};
static_assert(std::size(fact_names) == std::variant_size_v<Fact>);

template <typename T> constexpr bool about_tensor = requires(const T& fact) { fact.tensor; };
template <typename T> constexpr bool about_node = requires(const T& fact) { fact.node; };

} // namespace

std::string_view graph_kind_name(GraphKind kind) noexcept {
    switch (kind) {
    case GraphKind::prefill: return "prefill";
    case GraphKind::decode: return "decode";
    case GraphKind::encoder: return "encoder";
    case GraphKind::imported: return "imported";
    case GraphKind::other: return "other";
    }
    return "";
}

std::string_view question_name(Question question) noexcept {
    switch (question) {
    case Question::op: return "op";
    case Question::buffer_type: return "buffer_type";
    case Question::offload: return "offload";
    }
    return "";
}

std::string_view fact_name(const Fact& fact) noexcept { return fact_names[fact.index()]; }

TensorId subject(const Fact& fact) noexcept {
    return std::visit(
        []<typename T>(const T& f) -> TensorId {
            if constexpr (std::is_same_v<T, record::CopyMade>) {
                return f.copy;
            } else if constexpr (std::is_same_v<T, record::NotFused>) {
                return f.first;
            } else if constexpr (std::is_same_v<T, record::Execute>) {
                return f.last;
            } else if constexpr (about_tensor<T>) {
                return f.tensor;
            } else if constexpr (about_node<T>) {
                return f.node;
            } else {
                return no_tensor;
            }
        },
        fact);
}

std::string session_fact(const SessionInfo& session, std::string_view key) {
    for (const auto& [name, value] : session.facts) {
        if (name == key) {
            return value;
        }
    }
    return {};
}

} // namespace schedscope
