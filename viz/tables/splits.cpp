#include "viz/tables/splits.h"

#include "runtime/system/number_words.h"

#include <algorithm>
#include <numeric>

namespace schedscope::tables {

using query::Field;

std::span<const InputsTable::Entry> InputsTable::entries() {
    using T = const InputsTable&;
    using R = const record::SplitInput&;
    static const Entry list[] = {
        {{.key = "id", .help = "the tensor's number", .unit = Unit::number}, [](T, R r) -> Cell { return r.tensor; }},
        {{.key = "tensor", .title = "tensor", .help = "what is copied"}, [](T t, R r) { return t.name(r.tensor); }},
        {{.key = "bytes", .title = "bytes", .help = "its size", .unit = Unit::bytes},
         [](T t, R r) { return Cell::of_sum(t.sizes().of(r.tensor, r.bytes)); }},
        {{.key = "from", .title = "from", .help = "the backend that it lies on", .unit = Unit::backend},
         [](T t, R r) { return r.from ? t.backend(*r.from) : Cell::unknown(); }},
        {{.key = "node", .title = "for", .help = "the first node that needs it"},
         [](T t, R r) { return t.name(or_none(r.node)); }},
    };
    return list;
}

InputsTable::InputsTable(History& history, const PlanState& state, const SplitState& split)
    : PlanTable("inputs", history), sizes_(history, state) {
    look_at(state);
    rows_ = split.inputs;
}

namespace {
constexpr std::string_view range_title = "from – to";
} // namespace

std::span<const SplitsTable::Entry> SplitsTable::entries() {
    using T = const SplitsTable&;
    using R = const int32_t&;
    static const Entry list[] = {
        {{.key = "index",
          .title = "#",
          .help = "the split's place in the order in which splits run",
          .unit = Unit::number,
          .width = 3,
          .field = Field::split,
          .tone = Tone::quiet},
         [](T t, R r) -> Cell { return t.at(r).begin.index; }},
        {{.key = "backend", .title = "backend", .help = "that runs it", .unit = Unit::backend, .field = Field::backend},
         [](T t, R r) { return t.backend(t.at(r).backend()); }},
        {{.key = "nodes", .title = "nodes", .help = "how many it has", .unit = Unit::count, .width = 5, .from_width = 40},
         [](T t, R r) -> Cell {
             const SplitState& s = t.at(r);
             return !s.begin.first_node ? Cell::unknown() : s.end_node < 0 ? Cell::open() : Cell(s.end_node - s.first_node());
         }},
        {{.title = range_title,
          .help = "its first and last node",
          .unit = Unit::range,
          .width = 11,
          .from_width = 84,
          .tone = Tone::quiet},
         [](T t, R r) {
             const SplitState& s = t.at(r);
             const std::string end = s.end_node < 0 ? "…" : words::count(s.end_node - 1);
             return s.begin.first_node ? Cell(words::count(s.first_node()) + " – " + end).ordered_by(s.first_node())
                                       : Cell::unknown();
         }},
        {{.key = "first_node", .help = "the place of its first node in the order in which nodes run", .unit = Unit::number},
         [](T t, R r) { return Cell::known(t.at(r).begin.first_node); }},
        {{.key = "last_node", .help = "the place of its last node; below first_node: it has none", .unit = Unit::number},
         [](T t, R r) {
             const SplitState& s = t.at(r);
             return s.begin.first_node ? Cell((s.end_node < 0 ? s.first_node() : s.end_node) - 1) : Cell::unknown();
         }},
        {{.key = "node", .title = "starts with", .help = "its first node that computes", .field = Field::name},
         [](T t, R r) {
             const std::optional<TensorId> node = t.at(r).begin.node;
             return !node ? Cell::unknown() : *node != no_tensor ? t.name(*node) : Cell::nothing("views only");
         }},
        {{.key = "node_id", .help = "that node's number", .unit = Unit::number},
         [](T t, R r) { return Cell::from_zero(t.at(r).node()); }},
        {{.key = "op", .help = "that node's operator", .field = Field::op},
         [](T t, R r) {
             const TensorInfo* info = t.history().find_tensor(t.state(), t.at(r).node());
             return info == nullptr ? Cell() : Cell(operator_text(*info));
         }},
        {{.key = "why", .title = "why", .help = "why a split begins here", .width = 7, .field = Field::why},
         [](T t, R r) {
             const std::optional<SplitReason> why = t.at(r).begin.why;
             return why ? Cell(split_reason_name(*why)) : Cell::unknown();
         }},
        {{.key = "by",
          .title = "because of",
          .help = "the source of its first node that made it so",
          .width = 12,
          .from_width = 96,
          .most = 28,
          .field = Field::by,
          .tone = Tone::quiet},
         [](T t, R r) { return t.name(or_none(t.at(r).begin.by)); }},
        {{.title = "in", .help = "how many tensors are copied into it", .unit = Unit::number, .width = 3, .from_width = 40},
         [](T t, R r) { return Cell::known(t.at(r).n_inputs()); }},
        {{.key = "inputs", .title = "copies in", .help = "the tensors that are copied into it", .unit = Unit::rows},
         [](T t, R r) -> Cell {
             if (!t.at(r).n_inputs()) {
                 return Cell::unknown();
             }
             return std::shared_ptr<const Table>(std::make_shared<InputsTable>(t.history(), t.state(), t.at(r)));
         }},
        {{.key = "bytes",
          .title = "bytes",
          .help = "that are copied into it",
          .unit = Unit::bytes,
          .width = 9,
          .from_width = 52,
          .field = Field::bytes},
         [](T t, R r) { return Cell::of_sum(t.sizes().of_inputs(t.at(r))); }},
        {{.key = "time_ns",
          .title = "time",
          .help = "in this evaluation, from when its inputs have been copied to its end, with gaps between its kernels",
          .unit = Unit::time,
          .width = 8,
          .from_width = 62,
          .field = Field::time},
         [](T t, R r) {
             const SplitState& s = t.at(r);
             return s.end_ns           ? Cell::known(s.time_ns())
                    : s.ran != no_step ? Cell::nothing(not_timed_text)
                                       : t.if_told(Topic::runs, {});
         }},
        {{.key = "share",
          .title = "share",
          .help = "of the evaluation's time",
          .unit = Unit::percent,
          .width = 6,
          .from_width = 74,
          .tone = Tone::quiet},
         [](T t, R r) {
             const std::optional<int64_t> time = t.at(r).time_ns();
             return time ? Cell(t.extent().percent(*time)) : Cell();
         }},
    };
    return list;
}

SplitsTable::SplitsTable(History& history) : PlanTable("splits", history) {}

void SplitsTable::update(const PlanState& state) {
    look_at(state);
    sizes_.emplace(history(), state);
    when_empty_ = state.planned ? "no splits were made" : "no split yet: pass 5 makes them";
    rows_.resize(state.splits.size());
    extent_ = accounts::time_extent(history(), state);
    std::iota(rows_.begin(), rows_.end(), 0);
    const SizeSum sum = sizes_->of_inputs(state);
    const std::string longest = words::count(std::ssize(state.order)); // on either side of the dash
    std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.title == range_title; })->width =
        std::max(11, 2 * n_of(longest) + 3);
    columns_[column_of(*this, "bytes")].width = sum.is_exact() ? 9 : 11;
    make_room_for_untimed(
        std::any_of(state.splits.begin(), state.splits.end(), [](const SplitState& s) { return s.ran != no_step && !s.end_ns; }));
}

std::string SplitsTable::summary() const {
    const bool timed =
        std::any_of(state().splits.begin(), state().splits.end(), [](const SplitState& s) { return s.time_ns().has_value(); });
    return !timed ? ""
                  : "a split's time is from when its inputs have been copied to its end, with gaps between its kernels; shares "
                    "are of " +
                        words::duration(extent_.time_ns()) + ", the time of evaluation " + std::to_string(state().evaluation);
}

} // namespace schedscope::tables
