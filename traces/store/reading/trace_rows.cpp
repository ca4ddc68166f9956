#include "traces/store/reading/trace_rows.h"

namespace schedscope {

namespace {

int64_t limit_of(Meaning meaning, const Bounds& b) {
    switch (meaning) {
    case Meaning::backend: return b.n_backends - 1;
    case Meaning::buffer_type: return b.n_buffer_types - 1;
    case Meaning::tensor: return b.n_tensors - 1;
    case Meaning::graph: return b.n_graphs - 1;
    case Meaning::evaluation: return b.n_evaluations - 1;
    case Meaning::split: return b.n_splits;
    case Meaning::node_index: return b.n_nodes;
    default: return std::numeric_limits<int64_t>::max();
    }
}

void check_own(const record::EvaluationBegin& f, const Record& r, const Bounds&) {
    if (f.planned_in > r.evaluation) {
        throw Damage("planned_in is " + std::to_string(f.planned_in) + ", a later evaluation");
    }
}
void check_own(const record::PlanBegin& f, const Record&, const Bounds&) {
    const int32_t n_stages = f.n_stages.value_or(1), stage = f.current_stage.value_or(0);
    if (n_stages < 1 || n_stages > most_stages || stage >= n_stages) {
        throw Damage("its stage is " + std::to_string(stage) + " of " + std::to_string(n_stages));
    }
}
void check_own(const record::PlanEnd& f, const Record&, const Bounds& b) {
    if (f.n_copies > b.n_tensors || f.n_splits > b.n_splits + 1) {
        throw Damage("it has " + std::to_string(f.n_copies) + " copies and " + std::to_string(f.n_splits) + " splits");
    }
}
void check_own(const record::CopyMade& f, const Record&, const Bounds& b) {
    if (f.copy < b.n_own || f.of < 0 || f.of >= b.n_own || f.backend < 0) {
        throw Damage("it makes " + std::to_string(f.copy) + " a copy of " + std::to_string(f.of));
    }
}
void check_own(const record::SplitBegin& f, const Record&, const Bounds&) {
    if (f.index < 0) {
        throw Damage("its index is -1");
    }
}
void check_own(const record::Placement& f, const Record&, const Bounds& b) {
    // The allocated graph has two nodes more for each input of a split.
    const int64_t most = b.n_nodes + 2 * b.n_tensors;
    if (f.first_use < 0 || f.last_use < 0 || f.first_use > most || f.last_use > most) {
        throw Damage("its uses are " + std::to_string(f.first_use) + " to " + std::to_string(f.last_use));
    }
}
void check_own(const record::ValueBucket& f, const Record&, const Bounds&) {
    if (f.index >= record::n_value_buckets) {
        throw Damage("its part is " + std::to_string(f.index) + " of " + std::to_string(record::n_value_buckets));
    }
}
template <typename T> void check_own(const T&, const Record&, const Bounds&) {}

} // namespace

void Bounds::of_plan(const GraphSize& graph, int64_t n_ids) noexcept {
    constexpr int64_t most_logged_splits = int64_t{1} << 24; // a log may have splits and not their nodes
    n_own = graph.n_tensors;
    n_tensors = n_ids;
    n_nodes = graph.n_nodes;
    n_splits = graph.answered ? graph.n_nodes : most_logged_splits;
}

void check_record(const Record& record, const Bounds& bounds, const std::function<bool(StringId)>& is_text) {
    std::visit(
        [&]<typename T>(const T& fact) {
            for_each_field<T>([&](const auto& f) {
                using Value = typename std::remove_cvref_t<decltype(f)>::Value;
                const Value* value = known(fact.*f.member);
                if (value == nullptr) {
                    return;
                }
                if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
                    if (*value > limit_of(f.meaning, bounds)) {
                        throw Damage(std::string(f.name) + " is " + std::to_string(*value));
                    }
                }
                if constexpr (std::is_same_v<Value, StringId>) {
                    if (f.meaning == Meaning::text && is_text && !is_text(*value)) {
                        throw Damage(std::string(f.name) + " is text " + std::to_string(*value) + ", which is not there");
                    }
                }
            });
            if (is_text) {
                check_own(fact, record, bounds);
            }
        },
        record.fact);
}

} // namespace schedscope
