#include "viz/tables/values.h"

#include "runtime/system/number_words.h"
#include "traces/history/accounts/values.h"

#include <algorithm>

namespace schedscope::tables {

using query::Field;

std::span<const ValuesTable::Entry> ValuesTable::entries() {
    using T = const ValuesTable&;
    using R = const accounts::ValueRow&;
    static const Entry list[] = {
        {{.key = "eval", .title = "eval", .help = "the evaluation", .unit = Unit::number, .width = 4, .from_width = 150},
         [](T, R r) -> Cell { return r.eval; }},
        {{.key = "tensor", .title = "name", .help = "the tensor"}, [](T, R r) -> Cell { return r.tensor; }},
        {{.key = "id", .title = "id", .help = "the tensor's number", .unit = Unit::number, .width = 5, .from_width = 150},
         [](T, R r) -> Cell { return r.id; }},
        {{.key = "device",
          .title = "computed by",
          .help = "the device that computed it once more, to be compared",
          .width = 11,
          .from_width = 160},
         [](T, R r) { return Cell::if_any(r.device); }},
        {{.key = "backend", .title = "backend", .help = "that it was put on", .unit = Unit::backend, .from_width = 60},
         [](T t, R r) { return is_index(r.id, t.state().tensors) ? t.backend(t.state().tensors[r.id].backend) : Cell(); }},
        {{.key = "elements", .title = "elements", .help = "how many it has", .unit = Unit::count, .width = 9, .from_width = 140},
         [](T, R r) -> Cell { return r.value.n_elements; }},
        {{.key = "min", .title = "min", .help = "the least finite element", .unit = Unit::real, .width = 9, .most = 13},
         [](T, R r) -> Cell { return r.value.min; }},
        {{.key = "max", .title = "max", .help = "the largest finite element", .unit = Unit::real, .width = 9, .most = 13},
         [](T, R r) -> Cell { return r.value.max; }},
        {{.key = "mean",
          .title = "mean",
          .help = "of the finite elements",
          .unit = Unit::real,
          .width = 9,
          .from_width = 66,
          .most = 13},
         [](T, R r) -> Cell { return r.value.mean; }},
        {{.key = "norm",
          .title = "norm",
          .help = "the root of the sum of their squares",
          .unit = Unit::real,
          .width = 9,
          .from_width = 78,
          .most = 13},
         [](T, R r) -> Cell { return r.value.norm; }},
        {{.key = "nan", .help = "elements that are not a number", .unit = Unit::count},
         [](T, R r) -> Cell { return r.value.n_nan; }},
        {{.key = "inf", .help = "infinite elements", .unit = Unit::count}, [](T, R r) -> Cell { return r.value.n_inf; }},
        {{.title = "not finite",
          .help = "elements that are not a number, or infinite",
          .unit = Unit::count,
          .width = 10,
          .from_width = 90},
         [](T, R r) {
             const int64_t n = r.value.n_nan + r.value.n_inf;
             return n == 0 ? Cell() : Cell(n).in(Tone::warning);
         }},
        {{.key = "histogram",
          .title = "spread",
          .help = "finite elements in equal parts from min to max",
          .unit = Unit::bars,
          .width = record::n_value_buckets,
          .from_width = 126,
          .tone = Tone::quiet},
         [](T, R r) { return Cell::of_each(r.histogram); }},
        {{.key = "first", .title = "first", .help = "its first elements", .unit = Unit::reals, .width = 12, .from_width = 170},
         [](T, R r) { return Cell::of_each(r.first); }},
    };
    return list;
}

ValuesTable::ValuesTable(History& history) : PlanTable("values", history) {}

void ValuesTable::update(const PlanState& state) {
    look_at(state);
    when_empty_ =
        state.evaluation >= 0 && state.step == no_step
            ? "nothing is recorded yet"
            : "no tensor was watched in this evaluation up to this step: `run`, `record` and `inspect -m` record the values of "
              "those that --watch QUERY names; `verify --record` compares two backends";
    if (state.evaluation != of_ || state.values.size() != rows_.size() || state.step != at_) {
        of_ = state.evaluation;
        at_ = state.step;
        rows_ = accounts::values(history(), state);
    }
}

std::span<const DifferencesTable::Entry> DifferencesTable::entries() {
    using T = const DifferencesTable&;
    using R = const ComparedRow&;
    const static auto tone_of = [](R r) { return r.difference.difference.beyond ? Tone::bad : Tone::plain; };
    const static auto if_compared = [](R r, double value) { return r.compared() ? Cell(value) : Cell::nothing(""); };
    const static auto if_differs = [](R r, Cell cell) {
        return r.difference.difference.element >= 0 ? std::move(cell) : Cell::nothing("");
    };
    static const Entry list[] = {
        {{.key = "eval", .title = "eval", .help = "the evaluation", .unit = Unit::number, .width = 4, .from_width = 150},
         [](T, R r) -> Cell { return r.eval; }},
        {{.key = "tensor", .title = "name", .help = "the node that was compared"},
         [](T, R r) { return Cell(r.name).in(tone_of(r)); }},
        {{.key = "id", .title = "id", .help = "the tensor's number", .unit = Unit::number, .width = 5, .from_width = 150},
         [](T, R r) -> Cell { return r.id; }},
        {{.key = "op", .title = "op", .help = "what computes it", .width = 10, .from_width = 76, .most = 16, .tone = Tone::quiet},
         [](T, R r) { return Cell::if_any(r.difference.op); }},
        {{.key = "device", .title = "device", .help = "that was compared", .width = 8, .from_width = 130},
         [](T, R r) { return Cell::if_any(r.difference.names.device); }},
        {{.key = "reference",
          .title = "reference",
          .help = "the backend that it was compared with",
          .width = 9,
          .from_width = 130},
         [](T, R r) { return Cell::if_any(r.difference.names.backend); }},
        {{.key = "compared", .help = "was it compared"}, [](T, R r) -> Cell { return r.compared(); }},
        {{.key = "beyond", .help = "is the error beyond tolerance"},
         [](T, R r) { return r.compared() ? Cell(r.difference.difference.beyond) : Cell(); }},
        {{.key = "nmse",
          .title = "nmse",
          .help = "normalised mean square error",
          .unit = Unit::rough,
          .width = 8,
          .most = 10,
          .field = Field::error},
         [](T, R r) { return if_compared(r, r.difference.difference.nmse).in(tone_of(r)); }},
        {{.key = "tolerance",
          .title = "tolerated",
          .help = "the error that rounding explains",
          .unit = Unit::rough,
          .width = 9,
          .from_width = 58,
          .tone = Tone::quiet},
         [](T, R r) { return if_compared(r, r.difference.difference.tolerance); }},
        {{.key = "max_error",
          .title = "largest",
          .help = "the largest difference of an element",
          .unit = Unit::rough,
          .width = 8,
          .from_width = 66,
          .most = 10},
         [](T, R r) { return if_compared(r, r.difference.difference.max_error); }},
        {{.key = "element", .help = "that element's number", .unit = Unit::number},
         [](T, R r) { return Cell::from_zero(r.difference.difference.element); }},
        {{.title = "at", .help = "that element's place", .width = 12, .from_width = 96, .most = 20},
         [](T, R r) { return if_differs(r, words::place(r.difference.difference.element, r.difference.ne)); }},
        {{.key = "value",
          .title = "value",
          .help = "what the device computed there",
          .unit = Unit::exact,
          .width = 12,
          .from_width = 150},
         [](T, R r) { return if_differs(r, r.difference.difference.value); }},
        {{.key = "expected",
          .title = "expected",
          .help = "what the reference has there",
          .unit = Unit::exact,
          .width = 12,
          .from_width = 150},
         [](T, R r) { return if_differs(r, r.difference.difference.expected); }},
        {{.key = "verdict", .help = "agrees, beyond tolerance, or skipped", .field = Field::why},
         [](T, R r) { return r.is_difference() ? Cell(words::verdict(r.difference.difference)) : Cell(); }},
        {{.title = "verdict", .help = "the same; ▸ the first one beyond in the whole trace", .width = 8},
         [](T t, R r) {
             const record::Difference& d = r.difference.difference;
             return !r.is_difference() ? Cell("watched").in(Tone::quiet)
                                       : Cell((t.is_first(r) ? "▸" : "") + std::string(words::verdict(d)))
                                             .in(d.beyond ? Tone::bad : Tone::quiet);
         }},
        {{.key = "step", .help = "the record", .unit = Unit::number, .field = Field::step},
         [](T, R r) { return Cell::from_zero(r.difference.step); }},
        {{.key = "why", .title = "why", .help = "why it was skipped, or can't be compared", .width = 10, .from_width = 140},
         [](T, R r) { return Cell::if_any(r.difference.names.why); }},
    };
    return list;
}

DifferencesTable::DifferencesTable(History& history, Shows shows) : PlanTable("differences", history), shows_(shows) {}

void DifferencesTable::update(const PlanState& state) {
    look_at(state);
    when_empty_ = state.evaluation < 0
                      ? "no differences were recorded (schedscope verify -m M --device A,B --record T)"
                      : "nothing was compared in this evaluation up to this step (t goes on to its token, behind what "
                        "is compared)";
    rows_.clear();
    auto value = state.values.begin();
    for (accounts::DifferenceRow& difference : accounts::differences(history(), state)) {
        for (; shows_ == Shows::all && value != state.values.end() && value->step < difference.step; ++value) {
            add(*value);
        }
        add(std::move(difference));
    }
    for (; shows_ == Shows::all && value != state.values.end(); ++value) {
        add(*value);
    }
    if (const Step last = history().n_steps() - 1; last != counted_to_) {
        counted_to_ = last;
        count_ = accounts::count_differences(history().source(), last);
    }
}

void DifferencesTable::add(const ValueState& state) {
    accounts::ValueRow value = accounts::value_row(history(), state, this->state().step);
    if (rows_.empty() || rows_.back().id != value.id || rows_.back().is_difference()) {
        rows_.emplace_back();
        rows_.back().id = value.id;
        rows_.back().name = value.tensor;
        rows_.back().eval = value.eval;
    }
    (state.value.device == 0 ? rows_.back().reference : rows_.back().device) = std::move(value);
}

void DifferencesTable::add(accounts::DifferenceRow difference) {
    if (rows_.empty() || rows_.back().id != difference.id || rows_.back().is_difference()) {
        rows_.emplace_back();
        rows_.back().id = difference.id;
    }
    rows_.back().name = difference.tensor;
    rows_.back().eval = difference.eval;
    rows_.back().difference = std::move(difference);
}

std::string DifferencesTable::summary() const {
    const auto n = [&](auto&& fits) { return std::count_if(rows_.begin(), rows_.end(), fits); };
    const auto beyond = [](const ComparedRow& r) { return r.compared() && r.difference.difference.beyond; };
    const auto compared = n([](const ComparedRow& r) { return r.compared(); });
    std::string text = words::counted(compared, "node") + " compared, " + words::count(n(beyond)) + " beyond tolerance";
    if (const auto first = std::find_if(rows_.begin(), rows_.end(), beyond); first != rows_.end()) {
        text +=
            " (the first: " + first->difference.op + " " + first->name + " in evaluation " + std::to_string(first->eval) + ")";
    }
    return text + ", " + words::count(n_of(rows_) - compared) + " skipped";
}

} // namespace schedscope::tables
