#include "runtime/planner/memory/allocate.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/memory/backend_history.h"
#include "runtime/planner/memory/memory_layout.h"
#include "runtime/planner/memory/permutation.h"
#include "runtime/planner/memory/place_list.h"
#include "runtime/planner/recorder.h"

#include <algorithm>

namespace schedscope {

struct MemoryPlanner::State {
    MemoryPlan result;
    MemoryLayout layout;
    BackendHistory backends;
    LayoutPlanner planner;
    bool has_layout = false;

    // Memory used again; holds nothing from graph to graph.
    AllocatedGraph allocated;
    MemoryGraph graph;
    std::vector<BufferTypeId> type_of_backend; ///< [n_backends]
    std::vector<Arena> arenas;                 ///< [n_buffer_types]
    PlaceList list;

    Permutation order;
    std::vector<std::vector<int64_t>> recorded_sizes; ///< result.chunk_sizes as the records know them
    bool reordered = false;                           ///< backends moved this graph's nodes in another way than the last one's

    void place(const GraphView& view, const Plan& plan, const AllocatedGraph& entries, const Capabilities& capabilities,
               std::span<const BufferTypeInfo> buffer_types, Recorder* recorder);
    void refuse_unassigned() const;
    void refuse_stale_leaf() const;
    void replan(Replan why, const Misfit& misfit, std::span<const BufferTypeInfo> buffer_types, Recorder* recorder);
    void plan_layout(std::span<const BufferTypeInfo> buffer_types);
    void grow_buffers();
    void record_sizes(Recorder& recorder);
};

MemoryPlanner::MemoryPlanner() : state_(std::make_unique<State>()) {}
MemoryPlanner::~MemoryPlanner() = default;
MemoryPlanner::MemoryPlanner(MemoryPlanner&&) noexcept = default;
MemoryPlanner& MemoryPlanner::operator=(MemoryPlanner&&) noexcept = default;

const MemoryPlan& MemoryPlanner::place(const GraphView& graph, const Plan& plan, std::span<const TensorId> order,
                                       const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types,
                                       Recorder* recorder, std::span<const KeptRange> kept) {
    copy_graph(graph, plan, order, state_->allocated, kept);
    state_->reordered = state_->order.changed(graph, order);
    return place(graph, plan, state_->allocated, capabilities, buffer_types, recorder);
}

const MemoryPlan& MemoryPlanner::place(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated,
                                       const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types,
                                       Recorder* recorder) {
    if (recorder == nullptr) {
        state_->place(graph, plan, allocated, capabilities, buffer_types, nullptr);
        return state_->result;
    }
    recorder->add(record::PassBegin{Pass::allocate});
    try {
        state_->place(graph, plan, allocated, capabilities, buffer_types, recorder);
    } catch (const PlanError& error) {
        recorder->add(record::PlanEnd{n_of(plan.splits), n_of(plan.copies), recorder->intern(error.what())});
        throw;
    }
    recorder->add(record::PassEnd{Pass::allocate});
    return state_->result;
}

void MemoryPlanner::State::place(const GraphView& view, const Plan& plan, const AllocatedGraph& entries,
                                 const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types,
                                 Recorder* recorder) {
    graph.describe(view, plan, entries);
    refuse_unassigned();
    type_of_backend.clear();
    for (BackendId b = 0; b < capabilities.n_backends(); ++b) {
        type_of_backend.push_back(capabilities.default_buffer_type(b));
        if (!is_index(type_of_backend.back(), buffer_types)) {
            throw Error(ErrorKind::usage, "memory plan: the default buffer type of backend " + std::to_string(b) + " is unknown");
        }
    }
    if (result.chunk_sizes.size() < buffer_types.size()) {
        result.chunk_sizes.resize(buffer_types.size());
    }
    result.why = Replan::no;
    result.replanned = false;
    result.reason.clear();
    if (backends.changed(entries, type_of_backend)) {
        replan(Replan::backend_changed, {}, buffer_types, recorder);
    } else if (plan.reserve) {
        replan(Replan::needs_realloc, {Misfit::Kind::reserve}, buffer_types, recorder);
    } else if (has_layout && reordered) {
        // Places belong to positions: another node there lives from and to other times.
        replan(Replan::needs_realloc, {Misfit::Kind::order}, buffer_types, recorder);
    } else if (const Misfit misfit = list.fill(graph, layout, result.tensors)) {
        replan(Replan::needs_realloc, misfit, buffer_types, recorder);
    } else if (list.leaf_without_place() >= 0) {
        refuse_stale_leaf();
    }
    if (recorder != nullptr) {
        record_sizes(*recorder);
        for (const PlacedTensor& t : result.tensors) {
            recorder->add_in_burst(
                record::Placement{t.tensor, t.in_place_of, t.buffer_type, t.chunk, t.first_use, t.last_use, t.offset, t.size});
        }
    }
}

void MemoryPlanner::State::refuse_unassigned() const {
    for (const auto* entries : {&graph.allocated().nodes, &graph.allocated().leafs}) {
        int all = 0;
        for (const AllocatedEntry& entry : *entries) {
            all |= entry.backend;
        }
        if (all >= 0) {
            continue; // the usual case: no entry is negative
        }
        for (const AllocatedEntry& entry : *entries) {
            if (entry.backend == no_backend) {
                throw PlanError("alloc_unassigned", Pass::allocate, entry.tensor,
                                "tensor '" + graph.name(entry.tensor) + "' (" + std::string(op_name(graph.op(entry.tensor))) +
                                    ") gets no memory: it has no backend, because nodes use it only through views");
            }
        }
    }
}

void MemoryPlanner::State::refuse_stale_leaf() const {
    const TensorId leaf = graph.allocated().leafs[list.leaf_without_place()].tensor;
    throw PlanError("alloc_stale_record", Pass::allocate, leaf,
                    "tensor '" + graph.name(leaf) + "' (" + std::string(op_name(graph.op(leaf))) +
                        ") gets no memory: the plan kept from the graph before has no place for leaf " +
                        std::to_string(list.leaf_without_place()));
}

void MemoryPlanner::State::replan(Replan why, const Misfit& misfit, std::span<const BufferTypeInfo> buffer_types,
                                  Recorder* recorder) {
    result.why = why;
    result.replanned = true;
    if (has_layout) { // the first one needs no reason
        result.reason = why == Replan::backend_changed ? "backend ids changed" : misfit_text(graph, misfit);
        if (recorder != nullptr) {
            recorder->add(record::Reallocation{recorder->intern(result.reason), misfit.node, misfit.slot});
        }
    }
    plan_layout(buffer_types);
    grow_buffers();
    list.fill(graph, layout, result.tensors);
}

void MemoryPlanner::State::plan_layout(std::span<const BufferTypeInfo> buffer_types) {
    arenas.resize(buffer_types.size());
    for (size_t type = 0; type < arenas.size(); ++type) {
        const auto& [name, is_host, alignment, max_size] = buffer_types[type];
        if (!alignment || !max_size) {
            throw Error(ErrorKind::usage, "memory plan: the limits of buffers of type " + name + " are unknown");
        }
        arenas[type].reset(*alignment, *max_size, graph.rules());
    }
    planner.plan(graph, type_of_backend, arenas, layout);
    has_layout = true;
}

void MemoryPlanner::State::grow_buffers() {
    for (size_t type = 0; type < arenas.size(); ++type) {
        const Arena& arena = arenas[type];
        std::vector<int64_t>& sizes = result.chunk_sizes[type];
        bool grows = false;
        for (size_t c = 0; c < arena.n_chunks(); ++c) {
            grows |= arena.peak(c) > (c < sizes.size() ? sizes[c] : 0);
        }
        if (grows) {
            sizes.resize(arena.n_chunks());
            for (size_t c = 0; c < sizes.size(); ++c) {
                sizes[c] = arena.peak(c);
            }
        }
    }
}

/// Of all buffers that have grown since they were recorded: now, or for a graph that was not recorded.
void MemoryPlanner::State::record_sizes(Recorder& recorder) {
    recorded_sizes.resize(result.chunk_sizes.size());
    for (size_t type = 0; type < recorded_sizes.size(); ++type) {
        const std::vector<int64_t>& sizes = result.chunk_sizes[type];
        std::vector<int64_t>& before = recorded_sizes[type];
        if (sizes == before) {
            continue;
        }
        for (size_t c = 0; c < std::max(sizes.size(), before.size()); ++c) {
            recorder.add(record::BufferSize{narrow<BufferTypeId>(type), int_of(c), c < sizes.size() ? sizes[c] : 0,
                                            c < before.size() ? before[c] : 0});
        }
        before = sizes;
    }
}

} // namespace schedscope
