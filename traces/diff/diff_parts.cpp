#include "traces/diff/diff_parts.h"

#include "runtime/numbers.h"
#include "traces/history/accounts/as_logged.h"

#include <algorithm>
#include <array>
#include <utility>

namespace schedscope::diff {

std::string_view what_name(What what) noexcept {
    constexpr std::array<std::string_view, ordinal(What::count)> names{
        "evaluation", "failure",     "reuse",  "prompt",     "node",      "type",   "shape",   "layout", "parameters", "source",
        "flags",      "memory_home", "pinned", "assignment", "cause",     "pass",   "split",   "input",  "copy",       "fusion",
        "not_fused",  "reorder",     "buffer", "peak",       "placement", "replan", "verdict", "token",  "sampler"};
    return names[ordinal(what)];
}

TraceDifference& Found::add(What what, std::string subject, DiffValue a, DiffValue b) {
    TraceDifference d;
    d.what = what;
    d.eval_a = a_;
    d.eval_b = b_;
    d.subject = std::move(subject);
    d.a = std::move(a);
    d.b = std::move(b);
    return result_.differences.emplace_back(std::move(d));
}

bool PlanSide::rounds_down(TensorId id) const {
    return is_index(id, graph.tensors) && (is_least_of_alike ? accounts::is_of_log(history.session())
                                                             : accounts::is_size_of_line(history.session(), graph.tensors[id]));
}

bool PlanSide::is_list_of_log() const {
    return accounts::is_of_log(history.session()) &&
           std::none_of(graph.tensors.begin(), graph.tensors.end(), [](const TensorInfo& t) { return t.ne.has_value(); });
}

bool PlanSide::has_causes() const {
    const auto n = std::min(std::ssize(state.tensors), std::ssize(graph.tensors)); // of copies it is known in every log
    return std::any_of(state.tensors.begin(), state.tensors.begin() + n,
                       [](const TensorState& t) { return t.cause && *t.cause != Cause::none; });
}

TensorState PlanSide::assigned(TensorId id) const {
    const size_t i = id;
    return id >= 0 && i < state.tensors.size() ? state.tensors[i] : TensorState{};
}

TensorId PlanSide::start_of(const SplitState& split) const {
    const size_t first = split.first_node();
    const TensorId node = split.node(); // none: the split has views only
    return node != no_tensor || first >= graph.nodes.size() ? node : graph.nodes[first];
}

namespace {

Alignment align_sides(const PlanSide& a, const PlanSide& b) {
    const bool a_is_list = a.is_list_of_log(), b_is_list = b.is_list_of_log();
    std::optional<Alignment> listed;
    if (a_is_list && !b_is_list) {
        listed = align_listed(a.graph, b.graph);
    } else if (b_is_list && !a_is_list) {
        listed = align_listed(b.graph, a.graph);
        if (listed) {
            std::swap(listed->in_a, listed->in_b);
        }
    }
    return listed ? std::move(*listed) : align(a.graph, b.graph);
}

} // namespace

PlanPair::PlanPair(History& history_a, const PlanState& state_a, History& history_b, const PlanState& state_b)
    : same_in_b_(history_a.session(), history_b.session()), a{history_a, state_a, *history_a.graph_of(state_a), same_in_a_},
      b{history_b, state_b, *history_b.graph_of(state_b), same_in_b_}, alignment_(align_sides(a, b)) {
    for (TensorId id = 0; id < n_of(alignment_.in_b); ++id) {
        if (const TensorId other = alignment_.in_b[id]; other != no_tensor) {
            common_.emplace_back(id, other);
        }
    }
    if (are_logged_alike()) {
        a.is_least_of_alike = accounts::is_of_log(a.history.session());
        b.is_least_of_alike = accounts::is_of_log(b.history.session());
    }
    pair_copies();
}

bool PlanPair::are_logged_alike() const {
    if (!accounts::is_of_log(a.history.session()) && !accounts::is_of_log(b.history.session())) {
        return false;
    }
    bool are_same = true;
    for (const auto& [x, y] : common_) {
        const TensorInfo &of_a = a.graph.tensors[x], &of_b = b.graph.tensors[y];
        const auto bytes_a = of_a.bytes(), bytes_b = of_b.bytes();
        if (of_a.is_view() || !bytes_a || !bytes_b) {
            continue; // views are not logged
        }
        if (accounts::logged_size(*bytes_a) != accounts::logged_size(*bytes_b)) {
            return false;
        }
        are_same = are_same && *bytes_a == *bytes_b;
    }
    return !are_same;
}

void PlanPair::pair_copies() {
    using PairedCopyKey = std::tuple<TensorId, std::string, std::optional<int16_t>>;
    std::map<PairedCopyKey, TensorId> of_b;
    for (const record::CopyMade& copy : b.state.copies) {
        of_b.emplace(PairedCopyKey{copy.of, b.backend(copy.backend), copy.stage}, copy.copy);
    }
    for (const record::CopyMade& copy : a.state.copies) {
        const TensorId original = in_b(copy.of);
        if (const auto other = of_b.find({original, a.backend(copy.backend), copy.stage});
            original != no_tensor && other != of_b.end()) {
            copies_in_b_.emplace(copy.copy, other->second);
            copies_in_a_.emplace(other->second, copy.copy);
        }
    }
}

namespace {

TensorId look_up(TensorId id, const std::vector<TensorId>& graph, const std::map<TensorId, TensorId>& copies) noexcept {
    if (is_index(id, graph)) {
        return graph[id];
    }
    const auto copy = copies.find(id);
    return copy == copies.end() ? no_tensor : copy->second;
}

} // namespace

TensorId PlanPair::in_b(TensorId id) const noexcept { return look_up(id, alignment_.in_b, copies_in_b_); }
TensorId PlanPair::in_a(TensorId id) const noexcept { return look_up(id, alignment_.in_a, copies_in_a_); }

bool PlanPair::same(TensorId of_a, TensorId of_b) const noexcept {
    return of_a == no_tensor ? of_b == no_tensor : of_b != no_tensor && in_b(of_a) == of_b;
}

std::optional<GraphKind> kind_of(const History& a, const History& b, const EvaluationPair& evaluations) {
    const std::optional<GraphKind> kind = a.evaluation(evaluations.first).begin.kind;
    return kind ? kind : b.evaluation(evaluations.second).begin.kind;
}

TraceDifference& PlanPair::add(Found& found, What what, TensorId of_a, TensorId of_b, DiffValue value_a,
                               DiffValue value_b) const {
    const std::string name_a = of_a == no_tensor ? "" : a.name(of_a), name_b = of_b == no_tensor ? "" : b.name(of_b);
    TraceDifference& d = found.add(what, of_a == no_tensor ? name_b : name_a, std::move(value_a), std::move(value_b));
    d.id_a = of_a;
    d.id_b = of_b;
    d.renamed = of_a != no_tensor && of_b != no_tensor && name_a != name_b ? name_b : "";
    return d;
}

} // namespace schedscope::diff
