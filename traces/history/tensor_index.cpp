#include "traces/history/tensor_index.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Records of a plan's run: they belong to the evaluation they were written in, not to the plan.
constexpr FactSet run_facts =
    fact_set<record::Execute, record::SplitRun, record::Transfer, record::Wait, record::Sample, record::NextToken, record::Value,
             record::ValueElement, record::ValueBucket, record::Difference>();

constexpr Step at_once = 65536; ///< records that are read together

} // namespace

void TensorIndex::Mentions::note(TensorId id, Step step, bool run) {
    if (id < 0) {
        return;
    }
    if (!is_index(id, newest)) {
        newest.resize(static_cast<size_t>(id) + 1, -1);
    }
    int32_t& last = newest[id];
    if (last < 0 || links[last].step != step) {
        links.push_back({step, last, run});
        last = n_of(links) - 1;
    }
}

struct TensorIndex::Scan {
    Mentions& m;
    const Mentions* plan;
    const RecordSource& source;

    void operator()(const Record& r) {
        const bool run = (fact_bit(r.fact) & run_facts) != 0;
        const auto note = [&](auto... ids) { (m.note(ids, r.step, run), ...); };
        std::visit(
            [&]<typename T>(const T& f) {
                if constexpr (std::is_same_v<T, record::PlanBegin>) {
                    begin_plan(source.graph(f.graph));
                } else if constexpr (std::is_same_v<T, record::Reorder>) {
                    note(f.node);
                    move(f);
                } else if constexpr (std::is_same_v<T, record::SplitBegin>) {
                    note(or_none(f.node), or_none(f.by));
                } else if constexpr (std::is_same_v<T, record::SplitInput>) {
                    note(f.tensor, or_none(f.node));
                } else if constexpr (std::is_same_v<T, record::CopyMade>) {
                    note(f.copy, f.of);
                } else if constexpr (std::is_same_v<T, record::Rewired>) {
                    note(f.node, f.original, f.copy);
                } else if constexpr (std::is_same_v<T, record::Fusion>) {
                    note_places(f.first, f.count, r.step, run);
                } else if constexpr (std::is_same_v<T, record::NotFused>) {
                    note(f.first, f.second);
                } else if constexpr (std::is_same_v<T, record::Placement>) {
                    note(f.tensor, f.in_place_of);
                } else if constexpr (std::is_same_v<T, record::Kept>) {
                    note(f.node, f.tensor);
                } else if constexpr (std::is_same_v<T, record::Execute>) {
                    note_places(place_of(f.first), f.count, r.step, run);
                    note(f.last);
                } else if constexpr (std::is_same_v<T, record::Transfer>) {
                    note(f.tensor, f.copy);
                } else if constexpr (std::is_same_v<T, record::Sample>) {
                    for (TensorId node = f.tensor; node > f.tensor - f.n_nodes; --node) {
                        note(node);
                    }
                } else {
                    note(subject(r.fact));
                }
            },
            r.fact);
    }

private:
    void begin_plan(const OwnedGraph& graph) { // ids are those of the new plan
        m.plans = true;
        m.links.clear();
        m.newest.assign(graph.tensors.size(), -1);
        m.order = graph.nodes;
        m.position.assign(graph.tensors.size(), -1);
        for (size_t i = 0; i < m.order.size(); ++i) {
            m.position[m.order[i]] = int_of(i);
        }
    }
    void move(const record::Reorder& f) {
        if (is_index(f.to, m.order) && is_index(f.node, m.position)) {
            m.order[f.to] = f.node;
            m.position[f.node] = f.to;
        }
    }
    const Mentions& places() const { return plan != nullptr && !m.plans ? *plan : m; }
    int32_t place_of(TensorId id) const {
        const auto& position = places().position;
        return is_index(id, position) ? position[id] : -1;
    }
    void note_places(int32_t first, int32_t count, Step step, bool run) {
        const auto& order = places().order;
        for (int32_t i = 0; first >= 0 && i < count && is_index(first + i, order); ++i) {
            m.note(order[first + i], step, run);
        }
    }
};

TensorIndex::Mentions& TensorIndex::mentions_of(const RecordSource& source, const EvaluationSpan& span, const Mentions* plan) {
    kept_.remove_if([](const Mentions& m) { return m.evaluation < 0; }); // reading it failed
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Mentions& m) { return m.evaluation == span.id; });
    if (known == kept_.end()) {
        size_t n_links = 0;
        for (const Mentions& m : kept_) {
            n_links += m.links.size() + m.newest.size();
        }
        while (n_links > most_links && &kept_.back() != plan) {
            n_links -= kept_.back().links.size() + kept_.back().newest.size();
            kept_.pop_back();
        }
        kept_.emplace_front();
        kept_.front().scanned_to = span.first;
    } else {
        kept_.splice(kept_.begin(), kept_, known);
    }
    Mentions& m = kept_.front();
    m.evaluation = -1; // while it is incomplete
    Scan scan{m, plan, source};
    std::vector<Record> records;
    for (; m.scanned_to < span.end; m.scanned_to = std::min(m.scanned_to + at_once, span.end)) {
        records.clear();
        source.read_wanted(m.scanned_to, std::min(m.scanned_to + at_once, span.end), wanted_, records);
        for (const Record& record : records) {
            scan(record);
        }
    }
    m.evaluation = span.id;
    return m;
}

std::vector<Step> TensorIndex::steps_of(const RecordSource& source, const EvaluationSpan& span, TensorId tensor,
                                        const EvaluationSpan* planned) {
    const Mentions* const plan = planned == nullptr ? nullptr : &mentions_of(source, *planned, nullptr);
    const Mentions& own = mentions_of(source, span, plan);
    std::vector<Step> steps;
    const auto add = [&](const Mentions& m, bool with_run) {
        const bool there = is_index(tensor, m.newest);
        for (int32_t at = there ? m.newest[tensor] : -1; at >= 0; at = m.links[at].before) {
            if (with_run || !m.links[at].run) {
                steps.push_back(m.links[at].step);
            }
        }
    };
    add(own, true);
    if (plan != nullptr && !own.plans) {
        add(*plan, false);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

} // namespace schedscope
