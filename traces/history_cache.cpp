#include "traces/history_cache.h"

#include "traces/fold.h"

#include <algorithm>

namespace schedscope {

/// Twice a state's copying costs about as much as folding this many records.
Step History::Cache::spacing() const noexcept { return std::max<Step>(1024, static_cast<Step>(cursor.tensors.size())); }

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
    Step since_keyframe = 0;
    while (next <= last) {
        const std::span<const Record> records = this->records.from(next);
        const auto n = static_cast<size_t>(std::min<Step>(static_cast<Step>(records.size()), last - next + 1));
        for (size_t i = 0; i < n; ++i) {
            const Record record = records[i];
            if (adopts_plan(record) && state.graph < 0) {
                const auto& begin = std::get<record::EvaluationBegin>(record.fact);
                const PlanState* planned = plan_of(begin.planned_in);
                if (planned != nullptr) {
                    adopt_plan(state, *planned, record);
                    ++next;
                    break; // making that plan may have moved the records away
                }
            }
            fold(state, record, source);
            ++next;
            if (keep && ++since_keyframe >= spacing()) {
                since_keyframe = 0;
                keep_keyframe(last);
            }
        }
    }
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

const PlanState& History::Cache::state_at(Step step, const EvaluationSpan& span) {
    const auto after = keyframes_.upper_bound(step);
    const PlanState* frame = after == keyframes_.begin() ? nullptr : std::prev(after)->second.get();
    if (frame != nullptr && frame->step < span.first) {
        frame = nullptr;
    }
    const bool forward = cursor.step != no_step && cursor.step >= span.first && cursor.step <= step;
    try {
        if (forward && (frame == nullptr || frame->step <= cursor.step + spacing())) {
            fold_to(cursor, cursor.step + 1, step, true);
        } else if (frame != nullptr) {
            cursor = *frame;
            fold_to(cursor, cursor.step + 1, step, true);
        } else {
            begin_state(cursor, span.id);
            fold_to(cursor, span.first, step, true);
        }
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
    const Step n = source.n_steps();
    while (names.scanned < n && !names.complete) {
        for (const Record& record : records.from(names.scanned)) {
            ++names.scanned;
            if (const auto* plan = std::get_if<record::PlanBegin>(&record.fact)) {
                if (record.step != begin) {
                    names.complete = true;
                    break;
                }
                names.graph = plan->graph;
            } else if (const auto* copy = std::get_if<record::CopyMade>(&record.fact)) {
                names.copies.push_back(*copy);
            } else if (std::holds_alternative<record::PlanEnd>(record.fact)) {
                names.complete = true;
                break;
            }
        }
    }
    return names;
}

} // namespace schedscope
