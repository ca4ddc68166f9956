#include "traces/history/history_cache.h"

#include <algorithm>

namespace schedscope {

void History::Cache::keep_keyframe(Step target) {
    if (keyframes_.contains(cursor.step)) {
        return;
    }
    keyframe_bytes_ += state_bytes(cursor);
    keyframes_.emplace(cursor.step, std::make_unique<PlanState>(cursor));
    while (keyframe_bytes_ > keyframe_budget && keyframes_.size() > 1) {
        const auto first = keyframes_.begin();
        const auto last = std::prev(keyframes_.end());
        const auto farthest = target - first->first > last->first - target ? first : last;
        keyframe_bytes_ -= state_bytes(*farthest->second);
        keyframes_.erase(farthest);
    }
}

void History::Cache::fold_to(PlanState& state, Step next, Step last, bool keep) {
    Step keyframe = next + keyframe_spacing;
    while (next <= last) {
        const RecordCache::Part part = folded.part(next, last + 1);
        next = part.end;
        for (const Record& r : part.records) {
            if (r.step > last) {
                break;
            }
            if (adopts_plan(r) && state.graph < 0) {
                const Record begin = r;
                const PlanState* planned = plan_of(std::get<record::EvaluationBegin>(begin.fact).planned_in);
                if (planned != nullptr) {
                    adopt_plan(state, *planned, begin);
                    next = begin.step + 1;
                    break; // making that plan may have moved the records away
                }
            }
            fold(state, r, source);
            if (keep && r.step >= keyframe) {
                keyframe = r.step + keyframe_spacing;
                keep_keyframe(last);
            }
        }
    }
    state.step = std::max(state.step, last); // what came after the last one changes nothing
}

/// Takes back what came after `step`; false: the cursor still lies behind it, before the first record that can't be taken back.
bool History::Cache::unfold_to(Step step) {
    folded.backward(cursor.step + 1, [&](const Record& record) {
        if (record.step <= step) {
            cursor.step = step;
            return false;
        }
        cursor.step = record.step; // what lies between changes nothing
        if (!unfold(cursor, record)) {
            return false;
        }
        --cursor.step;
        return true;
    });
    return cursor.step == step;
}

std::optional<EvaluationSpan> History::Cache::earlier_plan(const EvaluationSpan& span) const {
    const EvaluationId planned = span.begin.planned_in;
    if (planned == span.id || planned < 0 || planned >= source.n_evaluations()) {
        return std::nullopt;
    }
    const EvaluationSpan earlier = source.evaluation(planned);
    return earlier.begin.planned_in == planned && earlier.first < earlier.end ? std::optional(earlier) : std::nullopt;
}

const PlanState* History::Cache::plan_of(EvaluationId planned) {
    if (const auto found = plans_.find(planned); found != plans_.end()) {
        return found->second.get();
    }
    if (planned < 0 || planned >= source.n_evaluations()) {
        return nullptr;
    }
    const EvaluationSpan span = source.evaluation(planned);
    if (span.begin.planned_in != planned || span.first >= span.end) {
        return nullptr;
    }
    auto state = std::make_unique<PlanState>();
    begin_state(*state, planned);
    fold_to(*state, span.first, span.end - 1, false);
    if (plans_.size() >= max_plans) {
        plans_.erase(plans_.begin());
    }
    return plans_.emplace(planned, std::move(state)).first->second.get();
}

const PlanState& History::Cache::end_of(const EvaluationSpan& span) {
    const Step last = span.end - 1;
    try {
        if (end_.step == no_step || end_.evaluation != span.id || end_.step > last) {
            if (cursor.step == last) {
                end_ = cursor;
            } else {
                begin_state(end_, span.id);
            }
        }
        fold_to(end_, end_.step == no_step ? span.first : end_.step + 1, last, false);
    } catch (...) {
        begin_state(end_, span.id); // half a state is none
        throw;
    }
    return end_;
}

const PlanState& History::Cache::state_at(Step step, const EvaluationSpan& span) {
    const auto after = keyframes_.upper_bound(step);
    const PlanState* frame = after == keyframes_.begin() ? nullptr : std::prev(after)->second.get();
    if (frame != nullptr && frame->step < span.first) {
        frame = nullptr;
    }
    const bool here = cursor.step != no_step && cursor.step >= span.first && cursor.step < span.end;
    const bool forward = here && cursor.step <= step;
    try {
        if (here && !forward && cursor.step - step <= keyframe_spacing / 2 && unfold_to(step)) {
            return cursor;
        }
        const bool back_by_little = here && !forward && cursor.step - step <= stride_back;
        if (!forward || (frame != nullptr && frame->step > cursor.step + keyframe_spacing)) {
            if (frame != nullptr) {
                cursor = *frame;
            } else {
                begin_state(cursor, span.id);
            }
        }
        Step next = cursor.step == no_step ? span.first : cursor.step + 1;
        if (back_by_little && next < step - stride_back) { // who steps back goes on so: the next steps begin near here
            fold_to(cursor, next, step - stride_back, true);
            keep_keyframe(step);
            next = cursor.step + 1;
        }
        fold_to(cursor, next, step, true);
    } catch (...) {
        begin_state(cursor, span.id); // half a state is none
        throw;
    }
    return cursor;
}

const History::Cache::Names& History::Cache::names_at(Step step, const EvaluationSpan& span) {
    Step begin = source.previous_of(step + 1, fact_bit<record::PlanBegin>());
    if (begin < span.first) {
        const EvaluationId planned = span.begin.planned_in;
        if (planned == span.id || planned < 0 || planned >= source.n_evaluations()) {
            return nothing_;
        }
        const EvaluationSpan earlier = source.evaluation(planned);
        begin = source.previous_of(earlier.end, fact_bit<record::PlanBegin>());
        if (begin < earlier.first) {
            return nothing_;
        }
    }
    const auto found = names_.find(begin);
    if (found != names_.end() && found->second.complete) {
        return found->second;
    }
    if (found == names_.end() && names_.size() >= max_names) {
        names_.erase(names_.begin());
    }
    Names& names = names_[begin];
    if (names.scanned == no_step) {
        names.scanned = names.plan_begin = begin;
    }
    constexpr FactSet naming = fact_set<record::PlanBegin, record::CopyMade, record::PlanEnd>();
    constexpr Step at_once = 65536;
    std::vector<Record> found_records;
    for (const Step n = source.n_steps(); names.scanned < n && !names.complete;) {
        found_records.clear();
        const Step end = std::min(names.scanned + at_once, n);
        source.read_wanted(names.scanned, end, {naming}, found_records);
        names.scanned = end;
        for (const Record& record : found_records) {
            if (const auto* copy = std::get_if<record::CopyMade>(&record.fact)) {
                names.copies.push_back(*copy);
            } else if (record.step == begin) {
                names.graph = std::get<record::PlanBegin>(record.fact).graph;
            } else { // its end, or where it failed the beginning of another
                names.complete = true;
                break;
            }
        }
    }
    return names;
}

} // namespace schedscope
