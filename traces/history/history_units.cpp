// Going by units: sweeps, passes, splits, evaluations, tokens.

#include "traces/history/history.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Kinds of records that can be the moment of a unit.
FactSet moments_of(History::Unit unit) noexcept {
    switch (unit) {
    case History::Unit::record: break;
    case History::Unit::sweep:
    case History::Unit::pass: return fact_set<record::PassEnd, record::PlanEnd, record::EvaluationEnd>();
    case History::Unit::split: return fact_set<record::SplitEnd, record::SplitRun>();
    case History::Unit::evaluation: return fact_bit<record::EvaluationBegin>();
    case History::Unit::token: return fact_bit<record::NextToken>();
    }
    return every_fact;
}

} // namespace

bool is_moment(History::Unit unit, const Record& record) noexcept {
    if (unit == History::Unit::record) {
        return true;
    }
    if (const auto* end = std::get_if<record::PassEnd>(&record.fact); end != nullptr && unit == History::Unit::pass) {
        return end->pass < Pass::gpu_down || end->pass >= Pass::rest_up;
    }
    if (const auto* end = std::get_if<record::PlanEnd>(&record.fact); end != nullptr && end->error == 0) {
        return false;
    }
    if (const auto* end = std::get_if<record::EvaluationEnd>(&record.fact); end != nullptr && !end->failed) {
        return false;
    }
    return (moments_of(unit) & fact_bit(record.fact)) != 0;
}

Step History::next(Step from, Unit unit) {
    if (unit == Unit::record) {
        return from + 1 < n_steps() ? std::max<Step>(from + 1, 0) : no_step;
    }
    do {
        from = source_->next_of(from, moments_of(unit));
    } while (from != no_step && !is_moment(unit, record(from)));
    return from;
}

Step History::previous(Step from, Unit unit) {
    if (unit == Unit::record) {
        return from > 0 ? std::min(from, n_steps()) - 1 : no_step;
    }
    do {
        from = source_->previous_of(from, moments_of(unit));
    } while (from != no_step && !is_moment(unit, record(from)));
    return from;
}

} // namespace schedscope
