#include "inspector/tui/state/same_place.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {
namespace {

/// What divides an evaluation into stretches.
constexpr FactSet marks = fact_set<record::EvaluationBegin, record::PlanBegin, record::PassBegin, record::PassEnd,
                                   record::PlanEnd, record::EvaluationEnd>();

/// From one mark to the next one: the records of a pass, or those between two passes.
struct PassStretch {
    Step first = 0, end = 0; ///< [first, end)
    int rank = 0;            ///< of the mark at its beginning: the same in each evaluation, and growing within it
};

int rank_of(const Fact& mark) {
    constexpr int apart = 10; // there is something between two passes
    if (const auto* begin = std::get_if<record::PassBegin>(&mark)) {
        return apart * ordinal(begin->pass);
    }
    if (const auto* end = std::get_if<record::PassEnd>(&mark)) {
        return apart * ordinal(end->pass) + 1;
    }
    return std::holds_alternative<record::PlanEnd>(mark)         ? apart * ordinal(Pass::split) + 2
           : std::holds_alternative<record::EvaluationEnd>(mark) ? apart * (ordinal(Pass::execute) + 1)
           : std::holds_alternative<record::PlanBegin>(mark)     ? -1
                                                                 : -2;
}

std::vector<PassStretch> stretches_of(History& history, const EvaluationSpan& span) {
    std::vector<PassStretch> all{{span.first, span.end, -2}};
    const RecordSource& source = history.source();
    for (Step at = span.first - 1; (at = source.next_of(at, marks)) != no_step && at < span.end;) {
        const int rank = rank_of(history.record(at).fact);
        if (at > all.back().first) {
            all.back().end = at;
            all.push_back({at, span.end, rank});
        } else {
            all.back().rank = rank;
        }
    }
    return all;
}

/// What the stretch of a pass leads to: its end.
Step over(History& history, const PassStretch& stretch) {
    if (!std::holds_alternative<record::PassBegin>(history.record(stretch.first).fact)) {
        return stretch.first;
    }
    const bool ends = stretch.end < history.n_steps() && is_moment(History::Unit::sweep, history.record(stretch.end));
    return ends ? stretch.end : stretch.end - 1;
}

/// The record of a stretch of the evaluation `to` that is like one of another stretch: the same kind, about the same tensor,
/// after as many like it; no_step: there is none.
Step like(History& history, Describer& describer, const Record& record, Step first, EvaluationId to, const PassStretch& other) {
    const Wanted wanted{fact_bit(record.fact), true};
    const TensorId id = subject(record.fact);
    const std::string name(describer.name(record.evaluation, id));
    const bool same_ids = history.evaluation(record.evaluation).begin.planned_in == history.evaluation(to).begin.planned_in;
    const auto is_about_it = [&](const Record& r) { return subject(r.fact) == id; };
    std::vector<Record> records;
    history.source().read_wanted(first, record.step, wanted, records);
    auto left = std::count_if(records.begin(), records.end(), is_about_it);
    records.clear();
    history.source().read_wanted(other.first, other.end, wanted, records);
    const auto found = std::find_if(records.begin(), records.end(), [&](const Record& r) {
        return (same_ids ? is_about_it(r) : describer.name(to, subject(r.fact)) == name) && left-- == 0;
    });
    return found == records.end() ? no_step : found->step;
}

} // namespace

Step beginning_of(const History& history, EvaluationId evaluation) {
    const EvaluationSpan span = history.evaluation(evaluation);
    if (span.begin.planned_in != evaluation) { // it runs a plan that there is
        return span.first;
    }
    const Step planned = history.source().next_of(span.first - 1, fact_bit<record::PlanBegin>());
    return planned != no_step && planned < span.end ? planned : std::max(span.end - 1, span.first);
}

SamePlace same_place(History& history, Describer& describer, Step from, EvaluationId to) {
    const EvaluationSpan there = history.evaluation(to);
    const std::vector<PassStretch> mine = stretches_of(history, history.evaluation(history.evaluation_of(from)));
    const PassStretch here = *std::prev(std::upper_bound(
        mine.begin() + 1, mine.end(), from, [](Step step, const PassStretch& stretch) { return step < stretch.first; }));
    const std::vector<PassStretch> others = stretches_of(history, there);
    const auto match = std::find_if(others.begin(), others.end(), [&](const PassStretch& s) { return s.rank >= here.rank; });
    SamePlace place{std::max(there.end - 1, there.first), false};
    if (match != others.end() && match->rank > here.rank) {
        place.step = over(history, *match);
    } else if (match != others.end()) {
        place.same = true;
        const Step found =
            from + 1 == here.end ? match->end - 1 : like(history, describer, history.record(from), here.first, to, *match);
        place.step = found != no_step ? found : over(history, *match);
    }
    place.step = std::max(place.step, std::min(beginning_of(history, to), there.end - 1));
    return place;
}

} // namespace schedscope::tui
