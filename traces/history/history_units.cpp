// Moving by units: sweeps, passes, splits, nodes, evaluations, tokens.

#include "traces/history/history_cache.h"
#include "traces/history/unit.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Units that only records of certain kinds begin, whatever came before them.
FactSet beginners(History::Unit unit) noexcept {
    switch (unit) {
    case History::Unit::sweep:
    case History::Unit::pass: return fact_bit<record::PassBegin>();
    case History::Unit::evaluation: return fact_bit<record::EvaluationBegin>();
    case History::Unit::token: return fact_bit<record::NextToken>();
    default: return 0;
    }
}

/// The context before the record at `step`: looks back as far as the present pass goes, or until both are known.
UnitContext context_before(RecordCache& records, Step step) {
    UnitContext context;
    records.backward(step, [&](const Record& record) {
        if (clears_context(record)) {
            return false;
        }
        if (context.node == no_tensor) {
            context.node = unit_node(record);
        }
        if (context.split < 0) {
            context.split = unit_split(record);
        }
        return context.node == no_tensor || context.split < 0;
    });
    return context;
}

} // namespace

Step History::next(Step from, Unit unit) {
    from = std::max<Step>(from, -1);
    const Step n = source_->n_steps();
    if (unit == Unit::record) {
        return from + 1 < n ? from + 1 : no_step;
    }
    if (const FactSet kinds = beginners(unit); kinds != 0) {
        for (Step at = source_->next_of(from, kinds); at != no_step; at = source_->next_of(at, kinds)) {
            if (begins(unit, {}, cache_->records.at(at))) {
                return at;
            }
        }
        return no_step;
    }
    RecordCache& records = unit == Unit::split ? cache_->folded : cache_->records;
    UnitContext context = from + 1 < n ? context_before(records, from + 1) : UnitContext{};
    for (Step at = from + 1; at < n;) {
        const RecordCache::Part part = records.part(at);
        for (const Record& record : part.records) {
            if (begins(unit, context, record)) {
                return record.step;
            }
            advance(context, record);
        }
        at = part.end;
    }
    return no_step;
}

Step History::previous(Step from, Unit unit) {
    from = std::min(from, source_->n_steps());
    if (unit == Unit::record) {
        return from > 0 ? from - 1 : no_step;
    }
    if (const FactSet kinds = beginners(unit); kinds != 0) {
        for (Step at = source_->previous_of(from, kinds); at != no_step; at = source_->previous_of(at, kinds)) {
            if (begins(unit, {}, cache_->records.at(at))) {
                return at;
            }
        }
        return no_step;
    }
    // A record may begin something when it is about a node or a split at all; whether it does, the one before it tells.
    const auto about = [&](const Record& r) { return unit == Unit::node ? unit_node(r) != no_tensor : unit_split(r) >= 0; };
    RecordCache& records = unit == Unit::split ? cache_->folded : cache_->records;
    std::optional<Record> candidate;
    records.backward(from, [&](const Record& record) {
        const bool is_about = about(record);
        if (candidate && (clears_context(record) || is_about)) {
            UnitContext before;
            advance(before, record);
            if (begins(unit, before, *candidate)) {
                return false;
            }
            candidate.reset();
        }
        if (is_about) {
            candidate = record;
        }
        return true;
    });
    return candidate ? candidate->step : no_step;
}

} // namespace schedscope
