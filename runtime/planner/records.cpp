#include "runtime/planner/records.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace schedscope {

namespace {

template <typename T> constexpr bool about_tensor = requires(const T& fact) { fact.tensor; };
template <typename T> constexpr bool about_node = requires(const T& fact) { fact.node; };

} // namespace

std::string_view graph_kind_name(GraphKind kind) noexcept {
    switch (kind) {
    case GraphKind::prefill: return "prefill";
    case GraphKind::decode: return "decode";
    case GraphKind::encoder: return "encoder";
    case GraphKind::other: return "other";
    case GraphKind::reserve: return "reserve";
    }
    return "";
}

namespace {
struct TopicWords {
    std::string_view name, words;
};
constexpr TopicWords topics[] = {
    {"answers", "answers of backends"},
    {"passes", "records of passes"},
    {"shapes", "types and shapes of tensors"},
    {"memory", "records of memory"},
    {"order", "records of order"},
    {"times", "times"},
    {"runs", "records of what ran"},
    {"tokens", "tokens"},
    {"reuse", "records of reuse"},
    {"buffers", "buffers of tensors"},
    {"fusion", "records of fusion"},
}; // in the order of Topic
static_assert(std::size(topics) == static_cast<size_t>(Topic::count));
} // namespace

std::string_view topic_name(Topic topic) noexcept { return topics[ordinal(topic)].name; }
std::string_view topic_words(Topic topic) noexcept { return topics[ordinal(topic)].words; }

std::string_view question_name(Question question) noexcept {
    switch (question) {
    case Question::op: return "op";
    case Question::buffer_type: return "buffer_type";
    case Question::offload: return "offload";
    }
    return "";
}

namespace {
constexpr std::string_view kernel_times_names[] = {"none", "splits", "kernels"}; // in the order of KernelTimes
} // namespace

std::string_view kernel_times_name(KernelTimes times) noexcept { return kernel_times_names[ordinal(times)]; }

std::optional<KernelTimes> kernel_times_from_name(std::string_view name) noexcept {
    const auto* const found = std::find(std::begin(kernel_times_names), std::end(kernel_times_names), name);
    return found == std::end(kernel_times_names) ? std::nullopt
                                                 : std::optional(static_cast<KernelTimes>(found - kernel_times_names));
}

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
            } else if constexpr (std::is_same_v<T, record::SplitBegin>) {
                return f.node.value_or(no_tensor);
            } else if constexpr (about_node<T>) {
                return f.node;
            } else {
                return no_tensor;
            }
        },
        fact);
}

std::vector<std::pair<std::string, std::string>> shown_facts(const SessionInfo& session) {
    auto facts = session.facts;
    if (session.settings) {
        const auto settings = settings_in_words(*session.settings);
        facts.insert(facts.end(), settings.begin(), settings.end());
    }
    return facts;
}

std::string session_fact(const SessionInfo& session, std::string_view key) {
    const auto in = [key](const auto& facts) {
        const auto found = std::find_if(facts.begin(), facts.end(), [key](const auto& fact) { return fact.first == key; });
        return found == facts.end() ? std::nullopt : std::optional(found->second);
    };
    if (const auto fact = in(session.facts)) { // asked for each plan: the whole list is not made for it
        return *fact;
    }
    return session.settings ? in(settings_in_words(*session.settings)).value_or("") : "";
}

} // namespace schedscope
