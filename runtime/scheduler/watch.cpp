// Which tensors of a plan are watched, and what they hold.

#include "runtime/scheduler/live_plan.h"

#include "runtime/backend/statistics.h"
#include "runtime/numbers.h"

namespace schedscope {

static_assert(n_histogram_parts == record::n_value_buckets);

void mark_watched(LivePlan& live, const LiveDevices& devices, Watcher* watcher) {
    live.watched = false;
    live.watched_leafs.clear();
    if (watcher == nullptr) {
        return;
    }
    const Plan& plan = live.plan;
    std::vector<int32_t> split_of(live.tensors.size(), -1), position(live.tensors.size(), -1);
    for (size_t s = 0; s < plan.splits.size(); ++s) {
        for (int32_t i = plan.splits[s].first_node; i < plan.splits[s].end_node; ++i) {
            const TensorId id = live.graph->nodes()[i]->id;
            split_of[id] = int_of(s);
            position[id] = i;
        }
    }
    for (size_t id = 0; id < live.tensors.size(); ++id) {
        const Assignment& assigned = plan.assignments[id];
        const std::string_view backend = assigned.backend == no_backend ? "" : devices.backend(assigned.backend).name();
        Tensor& t = *live.tensors[id];
        if (!watcher->wants({t, backend, cause_name(assigned.cause, assigned.source), split_of[id], position[id]})) {
            continue;
        }
        if (split_of[id] < 0) {
            live.watched_leafs.push_back(int_of(id));
        } else {
            t.flags |= flag_watched;
            live.watched = true;
        }
    }
}

void take_apart_watched(SplitGraph& graph) {
    std::erase_if(graph.groups, [&](const FusionGroup& group) {
        for (int32_t i = group.first; i + 1 < group.first + group.count; ++i) {
            if ((graph.nodes[i]->flags & flag_watched) != 0) {
                graph.not_fused.push_back({group.first, group.first + group.count - 1, "watched"});
                return true;
            }
        }
        return false;
    });
}

void record_values(const Tensor& tensor, Recorder& recorder, StringId device) {
    const bool unused_input =
        (tensor.flags & flag_input) != 0 && tensor.readers == 0; // as the embeddings are where there are tokens
    if (tensor.buffer == nullptr || unused_input) {
        return; // it was not filled
    }
    const Statistics s = statistics(tensor, Watcher::n_first);
    recorder.add(record::Value{tensor.id, device, s.n_elements, s.n_nan, s.n_inf, s.min, s.max, s.mean, s.norm});
    for (size_t i = 0; i < s.first.size(); ++i) {
        recorder.add(record::ValueElement{tensor.id, int_of(i), s.first[i]});
    }
    for (size_t i = 0; i < s.histogram.size(); ++i) {
        if (s.histogram[i] > 0) {
            recorder.add(record::ValueBucket{tensor.id, int_of(i), s.histogram[i]});
        }
    }
}

} // namespace schedscope
