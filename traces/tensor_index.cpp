#include "traces/tensor_index.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Records of a plan's run: they belong to the evaluation they were written in, not to the plan.
constexpr FactSet run_facts = fact_set<record::Execute, record::SplitRun, record::Transfer, record::Wait, record::Sample,
                                       record::Token, record::Value, record::ValueElement, record::ValueBucket>();

} // namespace

const std::vector<Step>& TensorIndex::steps_of(RecordCache& records, const RecordSource& source, const EvaluationSpan& span,
                                               TensorId tensor, const PlanState* planned) {
    const bool another = evaluation_ != span.id;
    evaluation_ = -1; // while it is incomplete
    if (another) {
        steps_.clear();
        order_.clear();
        position_.clear();
        scanned_to_ = span.first;
        if (planned != nullptr) {
            const EvaluationSpan earlier = source.evaluation(planned->evaluation);
            scan(records, source, earlier.first, earlier.end, true);
        }
    }
    scan(records, source, scanned_to_, span.end, false);
    scanned_to_ = span.end;
    evaluation_ = span.id;
    return tensor >= 0 && static_cast<size_t>(tensor) < steps_.size() ? steps_[static_cast<size_t>(tensor)] : none_;
}

void TensorIndex::scan(RecordCache& records, const RecordSource& source, Step first, Step end, bool plan_only) {
    while (first < end) {
        const std::span<const Record> chunk = records.from(first);
        const auto n = static_cast<size_t>(std::min<Step>(static_cast<Step>(chunk.size()), end - first));
        for (size_t i = 0; i < n; ++i) {
            if (!plan_only || (fact_bit(chunk[i].fact) & run_facts) == 0) {
                add(chunk[i], source);
            }
        }
        first += static_cast<Step>(n);
    }
}

void TensorIndex::note(TensorId id, Step step) {
    if (id < 0) {
        return;
    }
    if (steps_.size() <= static_cast<size_t>(id)) {
        steps_.resize(static_cast<size_t>(id) + 1);
    }
    std::vector<Step>& steps = steps_[static_cast<size_t>(id)];
    if (steps.empty() || steps.back() != step) {
        steps.push_back(step);
    }
}

void TensorIndex::note_nodes(TensorId first, int32_t count, Step step) {
    const int32_t at = first >= 0 && static_cast<size_t>(first) < position_.size() ? position_[static_cast<size_t>(first)] : -1;
    for (int32_t i = 0; at >= 0 && i < count && static_cast<size_t>(at + i) < order_.size(); ++i) {
        note(order_[static_cast<size_t>(at + i)], step);
    }
}

void TensorIndex::add(const Record& r, const RecordSource& source) {
    std::visit(
        [&]<typename T>(const T& f) {
            if constexpr (std::is_same_v<T, record::PlanBegin>) {
                const OwnedGraph& graph = source.graph(f.graph);
                steps_.assign(graph.tensors.size(), {}); // ids are those of the new plan
                order_ = graph.nodes;
                position_.assign(graph.tensors.size(), -1);
                for (size_t i = 0; i < order_.size(); ++i) {
                    position_[static_cast<size_t>(order_[i])] = static_cast<int32_t>(i);
                }
            } else if constexpr (std::is_same_v<T, record::Reorder>) {
                note(f.node, r.step);
                if (f.to >= 0 && static_cast<size_t>(f.to) < order_.size() && static_cast<size_t>(f.node) < position_.size()) {
                    order_[static_cast<size_t>(f.to)] = f.node;
                    position_[static_cast<size_t>(f.node)] = f.to;
                }
            } else if constexpr (std::is_same_v<T, record::SplitBegin>) {
                note(f.node, r.step);
                note(f.by, r.step);
            } else if constexpr (std::is_same_v<T, record::SplitInput>) {
                note(f.tensor, r.step);
                note(f.node, r.step);
            } else if constexpr (std::is_same_v<T, record::CopyMade>) {
                note(f.copy, r.step);
                note(f.of, r.step);
            } else if constexpr (std::is_same_v<T, record::Rewired>) {
                note(f.node, r.step);
                note(f.original, r.step);
                note(f.copy, r.step);
            } else if constexpr (std::is_same_v<T, record::Fusion>) {
                if (f.first >= 0 && static_cast<size_t>(f.first) < order_.size()) {
                    note_nodes(order_[static_cast<size_t>(f.first)], f.count, r.step);
                }
            } else if constexpr (std::is_same_v<T, record::NotFused>) {
                note(f.first, r.step);
                note(f.second, r.step);
            } else if constexpr (std::is_same_v<T, record::Placement>) {
                note(f.tensor, r.step);
                note(f.in_place_of, r.step);
            } else if constexpr (std::is_same_v<T, record::Execute>) {
                note_nodes(f.first, f.count, r.step);
                note(f.last, r.step);
            } else if constexpr (std::is_same_v<T, record::Transfer>) {
                note(f.tensor, r.step);
                note(f.copy, r.step);
            } else if constexpr (std::is_same_v<T, record::Sample>) {
                for (TensorId node = f.tensor; node > f.tensor - f.n_nodes; --node) {
                    note(node, r.step);
                }
            } else {
                note(subject(r.fact), r.step);
            }
        },
        r.fact);
}

} // namespace schedscope
