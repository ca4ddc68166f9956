#include "traces/history/accounts/time.h"

#include "runtime/numbers.h"
#include "runtime/ops/role.h"
#include "runtime/system/joined.h"
#include "traces/history/model_blocks.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace schedscope::accounts {

namespace {

constexpr std::array<std::string_view, n_activities> activity_names{"computing", "copying", "waiting", "idle"};
constexpr std::array<std::string_view, 6> by_names{"role", "layer", "op", "split", "device", "kernel"};

/// "", "while it is waited for"; of a device that may have run what was not timed, "or not timed, while it is waited for".
std::string idle_words(const DeviceTime& device, const std::string& when) {
    return !device.untimed ? when : when.empty() ? "or not timed" : "or not timed, " + when;
}

/// The earliest and the latest moment of all that was taken.
class Reached {
public:
    void take(std::optional<int64_t> from_ns, std::optional<int64_t> to_ns) {
        begin_ns_ = !from_ns ? begin_ns_ : std::min(begin_ns_.value_or(*from_ns), *from_ns);
        end_ns_ = !to_ns ? end_ns_ : std::max(end_ns_.value_or(*to_ns), *to_ns);
    }
    /// The first of the records [first, end), and the one that the evaluation ends with.
    void take_ends(const RecordSource& source, Step first, Step end) {
        std::vector<Record> records;
        for (const Step step : {first, last_step(source, first, end)}) {
            if (step >= first) {
                source.read(step, step + 1, records);
            }
        }
        for (const Record& r : records) {
            take(r.time_ns, r.time_ns);
        }
    }
    TimeExtent extent() const { return {begin_ns_.value_or(0), std::max(end_ns_.value_or(0), begin_ns_.value_or(0))}; }

private:
    std::optional<int64_t> begin_ns_, end_ns_;
};

/// Something that lasts: of several at one moment the first in this order is what the device does then.
struct Span {
    /// What comes first is what the device does. A user holds within a split that is timed as a whole, and not within a kernel.
    enum class Rank : uint8_t { kernel, hold, split, copy, wait, idle };
    Activity activity;
    Rank rank;
    int64_t start_ns, end_ns;
    size_t row;
};

/// Gives each moment of [begin, end) to one span: of those that cover it, the first by rank, then by start.
void share_out(std::vector<Span>& spans, const TimeExtent& extent,
               const std::function<void(const Span*, int64_t, int64_t)>& give) {
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return std::tie(a.rank, a.start_ns) < std::tie(b.rank, b.start_ns); });
    struct Edge {
        int64_t at_ns;
        size_t span;
        bool begins;
    };
    std::vector<Edge> edges;
    for (size_t i = 0; i < spans.size(); ++i) {
        const int64_t start = std::max(spans[i].start_ns, extent.begin_ns), end = std::min(spans[i].end_ns, extent.end_ns);
        if (start < end) {
            edges.push_back({start, i, true});
            edges.push_back({end, i, false});
        }
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at_ns < b.at_ns; });
    std::set<size_t> open;
    int64_t reached = extent.begin_ns;
    const auto give_until = [&](int64_t at_ns) {
        if (at_ns > reached) {
            give(open.empty() ? nullptr : &spans[*open.begin()], reached, at_ns);
            reached = at_ns;
        }
    };
    for (const Edge& edge : edges) {
        give_until(edge.at_ns);
        edge.begins ? void(open.insert(edge.span)) : void(open.erase(edge.span));
    }
    give_until(extent.end_ns);
}

class TimeKeeper {
public:
    TimeKeeper(const History& history, const PlanState& state, TimeBy by);
    TimeAccount account();

private:
    size_t row(BackendId backend, Activity activity, const std::string& what, bool timed = true);
    void add(BackendId backend, Activity activity, Span::Rank rank, const std::string& what, int64_t start_ns, int64_t end_ns);
    void add_waits();
    void add_planning();
    std::string what_of(const record::Execute& kernel) const;
    std::string what_of_split(const SplitState& split) const;
    template <typename Word> std::string of_nodes(const record::Execute& kernel, Word&& word) const;
    std::string role_of(TensorId node) const;
    std::string operator_of(TensorId node) const;
    std::string layer_of(TensorId node) const;

    const History& history_;
    const PlanState& state_;
    const TimeBy by_;
    const OwnedGraph* const graph_;
    std::vector<int32_t> place_;     ///< [tensors] in the order
    std::vector<ModelBlock> blocks_; ///< [tensors]; empty: of no use
    TimeAccount account_;
    std::vector<std::vector<Span>> spans_; ///< [backends]
    std::map<std::tuple<BackendId, Activity, std::string, bool>, size_t> row_of_;
};

TimeKeeper::TimeKeeper(const History& history, const PlanState& state, TimeBy by)
    : history_(history), state_(state), by_(by), graph_(history.graph_of(state)), spans_(history.session().backends.size()) {
    place_.assign(state.tensors.size(), -1);
    for (size_t i = 0; i < state.order.size(); ++i) {
        if (is_index(state.order[i], place_)) {
            place_[state.order[i]] = int_of(i);
        }
    }
    if (by == TimeBy::layer && graph_ != nullptr) {
        blocks_ = model_blocks(*graph_, [&](TensorId id) { return history.tensor_name(state, id); });
    }
    account_.extent = time_extent(history, state);
    account_.devices.resize(spans_.size());
    for (size_t b = 0; b < spans_.size(); ++b) {
        account_.devices[b].backend = narrow<BackendId>(b);
    }
}

size_t TimeKeeper::row(BackendId backend, Activity activity, const std::string& what, bool timed) {
    const auto [found, is_new] = row_of_.try_emplace({backend, activity, what, timed}, account_.rows.size());
    if (is_new) {
        account_.rows.push_back({backend, activity, what, std::nullopt, timed ? std::optional<int64_t>(0) : std::nullopt});
    }
    return found->second;
}

void TimeKeeper::add(BackendId backend, Activity activity, Span::Rank rank, const std::string& what, int64_t start_ns,
                     int64_t end_ns) {
    if (is_index(backend, spans_)) {
        const size_t at = row(backend, activity, what);
        account_.rows[at].n = account_.rows[at].n.value_or(0) + 1;
        spans_[backend].push_back({activity, rank, start_ns, std::max(start_ns, end_ns), at});
        account_.anything = true;
    }
}

/// While the scheduler waits, no device gets anything to do: who still computes does so, and all others wait. The one that is
/// waited for does not: where it is not known to compute, it is as good as done, or what it does was not timed.
void TimeKeeper::add_waits() {
    for (const record::Wait& wait : state_.waits) {
        const bool for_device = wait.backend != no_backend && wait.n_shaders == 0;
        const std::string what = wait.held                    ? "while the run was held"
                                 : wait.backend == no_backend ? "for the trace writer"
                                 : wait.n_shaders > 0 ? "for shaders of " + history_.backend_name(wait.backend) + " to compile"
                                                      : "for " + history_.backend_name(wait.backend);
        for (size_t b = 0; b < spans_.size(); ++b) {
            const bool itself = for_device && wait.backend == narrow<BackendId>(b);
            if (itself) {
                add(narrow<BackendId>(b), Activity::idle, Span::Rank::idle,
                    idle_words(account_.devices[b], "while it is waited for"), wait.start_ns, wait.end_ns);
            } else {
                add(narrow<BackendId>(b), Activity::waiting, wait.held ? Span::Rank::hold : Span::Rank::wait, what, wait.start_ns,
                    wait.end_ns);
            }
        }
    }
}

/// What the host does before anything can run is told of idle devices. It is of no backend, and of all.
void TimeKeeper::add_planning() {
    const EvaluationSpan span = history_.source().evaluation(state_.evaluation);
    bool planning = false;
    int64_t since = 0;
    history_.source().for_each_of(fact_set<record::PlanBegin, record::PassBegin, record::PassEnd, record::PlanEnd>(), span.first,
                                  std::min(span.end, state_.step + 1), [&](const Record& r) {
                                      if (!r.time_ns) {
                                          return;
                                      }
                                      const auto* pass = std::get_if<record::PassBegin>(&r.fact);
                                      if (std::holds_alternative<record::PlanBegin>(r.fact) ||
                                          (pass != nullptr && pass->pass != Pass::execute)) {
                                          since = planning ? since : *r.time_ns;
                                          planning = true;
                                      } else if (planning) {
                                          for (size_t b = 0; b < spans_.size(); ++b) {
                                              spans_[b].push_back({Activity::idle, Span::Rank::idle, since, *r.time_ns,
                                                                   row(narrow<BackendId>(b), Activity::idle, "planning")});
                                          }
                                          planning = false;
                                      }
                                  });
}

/// "RMS_NORM + MUL": each word once, in the order of the nodes that ran in it.
template <typename Word> std::string TimeKeeper::of_nodes(const record::Execute& kernel, Word&& word) const {
    const int32_t last = is_index(kernel.last, place_) ? place_[kernel.last] : -1;
    if (graph_ == nullptr || last < 0) {
        return unknown_text;
    }
    std::vector<std::string> words;
    for (int32_t at = std::max(0, last - std::max<int32_t>(kernel.count, 1) + 1); at <= last; ++at) {
        std::string said = word(state_.order[at]);
        if (std::find(words.begin(), words.end(), said) == words.end()) {
            words.push_back(std::move(said));
        }
    }
    return joined(words, " + ");
}

std::string TimeKeeper::role_of(TensorId node) const {
    const TensorInfo* const tensor = history_.find_tensor(state_, node);
    std::string name(tensor == nullptr            ? std::string_view(unknown_text)
                     : tensor->role == Role::none ? "other"
                                                  : role_name(tensor->role));
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string TimeKeeper::operator_of(TensorId node) const {
    const TensorInfo* const tensor = history_.find_tensor(state_, node);
    return tensor == nullptr ? unknown_text : operator_text(*tensor);
}

std::string TimeKeeper::layer_of(TensorId node) const { return (is_index(node, blocks_) ? blocks_[node] : ModelBlock{}).title(); }

std::string TimeKeeper::what_of(const record::Execute& kernel) const {
    switch (by_) {
    case TimeBy::role: return of_nodes(kernel, [&](TensorId node) { return role_of(node); });
    case TimeBy::layer: return of_nodes(kernel, [&](TensorId node) { return layer_of(node); });
    case TimeBy::op: return of_nodes(kernel, [&](TensorId node) { return operator_of(node); });
    case TimeBy::split: return "split " + std::to_string(kernel.split);
    case TimeBy::device: return "";
    case TimeBy::kernel: return std::string(history_.source().text(kernel.kernel));
    }
    return "";
}

std::string TimeKeeper::what_of_split(const SplitState& split) const {
    return by_ == TimeBy::split ? "split " + std::to_string(split.begin.index) : by_ == TimeBy::device ? "" : "whole splits";
}

TimeAccount TimeKeeper::account() {
    for (const record::Execute& kernel : state_.executed) {
        add(kernel.backend, Activity::computing, Span::Rank::kernel, what_of(kernel), kernel.start_ns, kernel.end_ns);
    }
    for (const SplitState* whole : splits_as_a_whole(state_)) {
        const SplitState& split = *whole;
        if (!is_index(split.backend(), spans_)) {
            continue;
        }
        if (split.start_ns && split.end_ns) {
            add(split.backend(), Activity::computing, Span::Rank::split, what_of_split(split), *split.start_ns, *split.end_ns);
            continue;
        }
        account_.devices[split.backend()].untimed = true;
        TimeRow& untimed = account_.rows[row(split.backend(), Activity::computing, what_of_split(split), false)];
        untimed.n = untimed.n.value_or(0) + 1;
    }
    for (const record::Transfer& transfer : state_.transfers) {
        add(transfer.to, Activity::copying, Span::Rank::copy, "", transfer.start_ns, transfer.end_ns);
    }
    add_waits();
    add_planning();
    for (size_t b = 0; b < spans_.size(); ++b) {
        DeviceTime& device = account_.devices[b];
        int64_t gap_start = account_.extent.begin_ns;
        share_out(spans_[b], account_.extent, [&](const Span* span, int64_t from_ns, int64_t to_ns) {
            const Activity activity = span == nullptr ? Activity::idle : span->activity;
            const size_t at = span == nullptr ? row(narrow<BackendId>(b), Activity::idle, idle_words(device, "")) : span->row;
            *account_.rows[at].ns += to_ns - from_ns;
            device.ns[ordinal(activity)] += to_ns - from_ns;
            if (activity != Activity::idle) {
                gap_start = to_ns;
            } else if (to_ns - gap_start > device.longest_gap_ns) {
                device.longest_gap_ns = to_ns - gap_start;
                device.gap_start_ns = gap_start;
            }
        });
    }
    // What lies wholly within something else has no time of its own.
    std::erase_if(account_.rows, [](const TimeRow& r) { return r.activity >= Activity::waiting && r.ns == 0; });
    std::stable_sort(account_.rows.begin(), account_.rows.end(), [](const TimeRow& a, const TimeRow& b) {
        const auto place = [](const TimeRow& r) { return std::tuple(r.backend, !r.ns, -r.ns.value_or(0), r.activity); };
        return place(a) < place(b);
    });
    return std::move(account_);
}

} // namespace

std::string_view activity_name(Activity activity) noexcept { return activity_names[ordinal(activity)]; }
std::string_view time_by_name(TimeBy by) noexcept { return by_names[ordinal(by)]; }

std::optional<TimeBy> time_by_from_name(std::string_view name) noexcept {
    const auto* const found = std::find(by_names.begin(), by_names.end(), name);
    return found == by_names.end() ? std::nullopt : std::optional(static_cast<TimeBy>(found - by_names.begin()));
}

double TimeExtent::percent(int64_t ns) const noexcept { return time_ns() > 0 ? to_double(ns) * 100 / to_double(time_ns()) : 0; }

Step last_step(const RecordSource& source, Step first, Step end) {
    const Step ended = source.previous_of(end, fact_bit<record::EvaluationEnd>());
    return ended >= first ? ended : end - 1;
}

TimeExtent time_extent(const History& history, const PlanState& state) {
    Reached reached;
    if (state.step != no_step) {
        const EvaluationSpan span = history.source().evaluation(state.evaluation);
        reached.take_ends(history.source(), span.first, std::min(span.end, state.step + 1));
    }
    const auto take_each = [&](const auto& runs) {
        for (const auto& run : runs) {
            reached.take(run.start_ns, run.end_ns);
        }
    };
    take_each(state.executed);
    take_each(state.splits);
    take_each(state.transfers);
    take_each(state.waits);
    return reached.extent();
}

TimeExtent time_extent(const RecordSource& source, const EvaluationSpan& span) {
    Reached reached;
    reached.take_ends(source, span.first, span.end);
    source.for_each_of(fact_set<record::Execute, record::SplitRun, record::Transfer, record::Wait>(), span.first, span.end,
                       [&](const Record& r) {
                           std::visit(
                               [&](const auto& f) {
                                   if constexpr (requires { f.start_ns; }) {
                                       reached.take(f.start_ns, f.end_ns);
                                   }
                               },
                               r.fact);
                       });
    return reached.extent();
}

std::vector<const SplitState*> splits_as_a_whole(const PlanState& state) {
    std::vector<bool> has_kernels(state.splits.size(), false);
    for (const record::Execute& kernel : state.executed) {
        if (is_index(kernel.split, has_kernels)) {
            has_kernels[kernel.split] = true;
        }
    }
    std::vector<const SplitState*> found;
    for (size_t i = 0; i < state.splits.size(); ++i) {
        if (state.splits[i].ran != no_step && !has_kernels[i]) {
            found.push_back(&state.splits[i]);
        }
    }
    return found;
}

std::string untimed_splits(const History& history, const PlanState& state) {
    std::set<BackendId> backends;
    for (const SplitState* split : splits_as_a_whole(state)) {
        if (!split->start_ns || !split->end_ns) {
            backends.insert(split->backend());
        }
    }
    if (backends.empty()) {
        return "";
    }
    const bool of_another_program = history.source().next_of(-1, fact_bit<record::Verdict>()) != no_step;
    return "splits on " + joined(backends, ", ", [&](BackendId id) { return history.backend_name(id); }) +
           " were not timed: record with " + (of_another_program ? "--sync" : "--kernel-times splits") + ", which times them";
}

TimeAccount time(const History& history, const PlanState& state, TimeBy by) { return TimeKeeper(history, state, by).account(); }

} // namespace schedscope::accounts
