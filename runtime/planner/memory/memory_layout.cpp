#include "runtime/planner/memory/memory_layout.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

bool same_layout(const TensorInfo& a, const TensorInfo& b) noexcept { return same_type(a, b) && a.ne == b.ne && a.nb == b.nb; }

} // namespace

void LayoutPlanner::plan(const MemoryGraph& graph, std::span<const BufferTypeId> arena_of, std::span<Arena> arenas,
                         MemoryLayout& layout) {
    graph_ = &graph;
    arena_of_ = arena_of;
    arenas_ = arenas;
    layout_ = &layout;
    lives_.assign(graph.n_ids(), {});
    layout.places.clear();
    layout.nodes.clear();
    sources_.clear();
    now_ = 0;
    for (const AllocatedEntry& leaf : graph.allocated().leafs) {
        place(leaf.tensor, leaf.backend);
    }
    count_and_place_inputs();
    run_nodes();
    note_positions();
}

void LayoutPlanner::count_and_place_inputs() {
    EntrySources sources;
    for (const AllocatedEntry& entry : graph_->allocated().nodes) {
        if (!entry.dependency) {
            const TensorId root = graph_->view_source(entry.tensor);
            if (root != no_tensor && graph_->op(entry.tensor) != Op::NONE) {
                ++life(root).views;
            }
            if (graph_->has_flag(entry.tensor, flag_input)) {
                place(entry.tensor, entry.backend);
            }
        }
        graph_->sources_of(entry, sources);
        layout_->nodes.push_back({{}, sources.mask, n_of(sources_)});
        for_each_bit(sources.mask, [&](int slot) {
            const TensorId source = sources[slot];
            sources_.push_back(source);
            ++life(source).uses;
            if (graph_->has_flag(source, flag_input)) {
                place(source, entry.backend);
            }
        });
    }
}

void LayoutPlanner::run_nodes() {
    const std::vector<AllocatedEntry>& nodes = graph_->allocated().nodes;
    std::span<const KeptRange> kept = graph_->allocated().kept;
    const auto keeps = [&](size_t i) {
        return !kept.empty() && i >= static_cast<size_t>(kept.front().first) && graph_->op(nodes[i].tensor) == Op::MUL_MAT;
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
        now_ = int_of(i);
        const std::span<const TensorId> sources = sources_of(i);
        for (const TensorId source : sources) {
            place(source, nodes[i].backend);
        }
        if (!nodes[i].dependency) {
            place(nodes[i].tensor, nodes[i].backend);
        }
        if (!keeps(i)) {
            release_sources(i);
        }
        if (!kept.empty() && i + 1 == static_cast<size_t>(kept.front().end)) {
            for (size_t member = kept.front().first; member <= i; ++member) {
                if (keeps(member)) {
                    release_sources(member);
                }
            }
            kept = kept.subspan(1);
        }
    }
}

void LayoutPlanner::release_sources(size_t node) {
    for (const TensorId source : sources_of(node)) {
        release(source);
    }
}

std::span<const TensorId> LayoutPlanner::sources_of(size_t node) const {
    const size_t first = layout_->nodes[node].first_source;
    const size_t end = node + 1 < layout_->nodes.size() ? layout_->nodes[node + 1].first_source : sources_.size();
    return std::span(sources_).subspan(first, end - first);
}

void LayoutPlanner::give_place(TensorId id, BackendId backend) {
    Life& l = life(id);
    const int64_t bytes = graph_->bytes(id);
    l.placed = true;
    const auto last_node = n_of(graph_->allocated().nodes) - 1;
    l.place = n_of(layout_->places);
    layout_->places.push_back({no_buffer_type, {}, bytes, -1, now_, std::max(last_node, 0)});
    const Op op = graph_->op(id);
    if (traits(op).in_place && !(op == Op::FILL && graph_->rules().fill_moves) && take_over(id)) {
        return;
    }
    PlannedPlace& place = layout_->places.back();
    place.type = arena_of_[backend];
    place.at = arenas_[place.type].take(bytes);
}

/// In the place of the first source that has no other use to come.
bool LayoutPlanner::take_over(TensorId id) {
    EntrySources sources;
    graph_->sources_of(id, sources);
    for (unsigned mask = sources.mask; mask != 0; mask &= mask - 1) {
        const TensorId source = sources[std::countr_zero(mask)];
        Life& s = life(source);
        if (source == id || !s.placed || s.uses != 1 || s.views != 0 || graph_->has_flag(source, flag_output) ||
            !same_layout(graph_->info(id), graph_->info(source))) {
            continue;
        }
        PlannedPlace& taken = layout_->places[s.place];
        PlannedPlace& place = layout_->places.back();
        place.type = taken.type;
        place.at = taken.at;
        place.in_place_of = s.place;
        taken.last_use = now_;
        s.placed = false;
        give_back_tail(taken, place.bytes);
        return true;
    }
    return false;
}

/// Of a place that a smaller tensor took over: buffer types may want more for one operator's result than for another's.
void LayoutPlanner::give_back_tail(const PlannedPlace& taken, int64_t bytes) {
    if (taken.bytes == bytes) {
        return;
    }
    Arena& arena = arenas_[taken.type];
    const int64_t rest = arena.rounded(taken.bytes) - arena.rounded(bytes);
    if (rest > 0 && !graph_->rules().tails_are_lost) {
        arena.give_back({taken.at.chunk, taken.at.offset + arena.rounded(bytes)}, rest);
    }
}

void LayoutPlanner::release(TensorId source) {
    Life& s = life(source);
    --s.uses;
    if (s.uses != 0 || s.views != 0) {
        return;
    }
    if (const TensorId root = graph_->view_source(source); root != no_tensor) {
        Life& r = life(root);
        --r.views;
        if (r.views == 0 && r.uses == 0) {
            free(root);
        }
    } else {
        free(source);
    }
}

void LayoutPlanner::free(TensorId id) {
    Life& l = life(id);
    if (!l.placed || graph_->has_flag(id, flag_output)) {
        return;
    }
    l.placed = false;
    PlannedPlace& place = layout_->places[l.place];
    place.last_use = now_;
    arenas_[place.type].give_back(place.at, place.bytes);
}

void LayoutPlanner::note_positions() {
    const AllocatedGraph& allocated = graph_->allocated();
    MemoryLayout& layout = *layout_;
    layout.leafs.resize(allocated.leafs.size());
    for (size_t i = 0; i < allocated.leafs.size(); ++i) {
        layout.leafs[i] = position_of(allocated.leafs[i].tensor);
    }
    for (size_t i = 0; i < allocated.nodes.size(); ++i) {
        if (!allocated.nodes[i].dependency) {
            layout.nodes[i].own = position_of(allocated.nodes[i].tensor);
        }
    }
    layout.sources.resize(sources_.size());
    for (size_t i = 0; i < sources_.size(); ++i) {
        layout.sources[i] = position_of(sources_[i]);
    }
}

PlannedPosition LayoutPlanner::position_of(TensorId id) { return {graph_->bytes(id), life(id).place}; }

} // namespace schedscope
