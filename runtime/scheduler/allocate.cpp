#include "runtime/scheduler/allocate.h"

#include "runtime/error.h"
#include "runtime/scheduler/memory_layout.h"
#include "runtime/scheduler/recorder.h"
#include "runtime/scheduler/replan.h"

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
    std::vector<uint8_t> listed;               ///< [n_ids] is in result.tensors
    std::vector<TensorId> owner;               ///< [layout.places] the present graph's tensor there

    void place(const GraphView& view, const Plan& plan, const AllocatedGraph& entries, const Capabilities& capabilities,
               std::span<const BufferTypeInfo> buffer_types, Recorder* recorder);
    void refuse_unassigned() const;
    void decide(Recorder* recorder);
    void plan_layout(std::span<const BufferTypeInfo> buffer_types, Recorder* recorder);
    void grow_buffers(Recorder* recorder);
    void list_places(Recorder* recorder);
    void list(TensorId id, int32_t place, size_t leaf_index, Recorder* recorder);
};

MemoryPlanner::MemoryPlanner() : state_(std::make_unique<State>()) {}
MemoryPlanner::~MemoryPlanner() = default;
MemoryPlanner::MemoryPlanner(MemoryPlanner&&) noexcept = default;
MemoryPlanner& MemoryPlanner::operator=(MemoryPlanner&&) noexcept = default;

const MemoryPlan& MemoryPlanner::place(const GraphView& graph, const Plan& plan, std::span<const TensorId> order,
                                       const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types,
                                       Recorder* recorder) {
    copy_graph(graph, plan, order, state_->allocated);
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
        recorder->add(record::PlanEnd{static_cast<int32_t>(plan.splits.size()), static_cast<int32_t>(plan.copies.size()),
                                      recorder->intern(error.what())});
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
        if (type_of_backend.back() < 0 || static_cast<size_t>(type_of_backend.back()) >= buffer_types.size()) {
            throw Error(ErrorKind::usage, "memory plan: the default buffer type of backend " + std::to_string(b) + " is unknown");
        }
    }
    if (result.chunk_sizes.size() < buffer_types.size()) {
        result.chunk_sizes.resize(buffer_types.size());
    }
    decide(recorder);
    if (result.replanned) {
        plan_layout(buffer_types, recorder);
    }
    list_places(recorder);
}

void MemoryPlanner::State::refuse_unassigned() const {
    for (const auto* entries : {&graph.allocated().nodes, &graph.allocated().leafs}) {
        for (const AllocatedEntry& entry : *entries) {
            if (entry.backend == no_backend) {
                throw PlanError("alloc_unassigned", Pass::allocate, entry.tensor,
                                "tensor '" + graph.name(entry.tensor) + "' (" + std::string(op_name(graph.op(entry.tensor))) +
                                    ") gets no memory: it has no backend, because nodes use it only through views");
            }
        }
    }
}

void MemoryPlanner::State::decide(Recorder* recorder) {
    Misfit misfit;
    result.why = Replan::no;
    if (backends.changed(graph.allocated(), type_of_backend)) {
        result.why = Replan::backend_changed;
    } else if (misfit = find_misfit(graph, layout); misfit.what != Misfit::What::nothing) {
        result.why = Replan::needs_realloc;
    }
    result.replanned = result.why != Replan::no;
    result.reason.clear();
    if (!result.replanned || !has_layout) {
        return; // the first layout has no reason
    }
    result.reason = result.why == Replan::backend_changed ? "backend ids changed" : misfit_text(graph, misfit);
    if (recorder != nullptr) {
        recorder->add(record::Reallocation{recorder->intern(result.reason), misfit.node, misfit.slot});
    }
}

void MemoryPlanner::State::plan_layout(std::span<const BufferTypeInfo> buffer_types, Recorder* recorder) {
    arenas.resize(buffer_types.size());
    for (size_t type = 0; type < arenas.size(); ++type) {
        arenas[type].reset(buffer_types[type].alignment, buffer_types[type].max_size);
    }
    planner.plan(graph, type_of_backend, arenas, layout);
    has_layout = true;
    grow_buffers(recorder);
}

void MemoryPlanner::State::grow_buffers(Recorder* recorder) {
    for (size_t type = 0; type < arenas.size(); ++type) {
        const Arena& arena = arenas[type];
        std::vector<int64_t>& sizes = result.chunk_sizes[type];
        bool grows = false;
        for (size_t c = 0; c < arena.n_chunks(); ++c) {
            grows |= arena.peak(c) > (c < sizes.size() ? sizes[c] : 0);
        }
        if (!grows) {
            continue;
        }
        for (size_t c = 0; recorder != nullptr && c < std::max(sizes.size(), arena.n_chunks()); ++c) {
            recorder->add(record::BufferSize{static_cast<BufferTypeId>(type), static_cast<int32_t>(c),
                                             c < arena.n_chunks() ? arena.peak(c) : 0, c < sizes.size() ? sizes[c] : 0});
        }
        sizes.resize(arena.n_chunks());
        for (size_t c = 0; c < sizes.size(); ++c) {
            sizes[c] = arena.peak(c);
        }
    }
}

void MemoryPlanner::State::list_places(Recorder* recorder) {
    const AllocatedGraph& allocated = graph.allocated();
    result.tensors.clear();
    listed.assign(graph.n_ids(), 0);
    owner.assign(layout.places.size(), no_tensor);
    for (size_t i = 0; i < allocated.leafs.size(); ++i) {
        list(allocated.leafs[i].tensor, layout.leafs[i], i, recorder);
    }
    EntrySources sources;
    for (size_t i = 0; i < allocated.nodes.size(); ++i) {
        graph.sources_of(allocated.nodes[i], sources);
        for_each_bit(sources.mask,
                     [&](int slot) { list(sources.id[static_cast<size_t>(slot)], layout.source(i, slot), i, recorder); });
        if (!allocated.nodes[i].dependency) {
            list(allocated.nodes[i].tensor, layout.nodes[i], i, recorder);
        }
    }
}

/// The place of a tensor's first position counts.
void MemoryPlanner::State::list(TensorId id, int32_t index, size_t leaf_index, Recorder* recorder) {
    uint8_t& done = listed[static_cast<size_t>(id)];
    const int64_t bytes = graph.bytes(id);
    if (done != 0 || bytes < 0) {
        return;
    }
    done = 1;
    if (index < 0) { // nodes and their sources were checked
        throw PlanError("alloc_stale_record", Pass::allocate, id,
                        "tensor '" + graph.name(id) + "' (" + std::string(op_name(graph.op(id))) +
                            ") gets no memory: the plan kept from the graph before has no place for leaf " +
                            std::to_string(leaf_index));
    }
    const PlannedPlace& place = layout.places[static_cast<size_t>(index)];
    owner[static_cast<size_t>(index)] = id;
    const TensorId parent = place.in_place_of < 0 ? no_tensor : owner[static_cast<size_t>(place.in_place_of)];
    result.tensors.push_back({id, place.type, place.at.chunk, place.at.offset, bytes, parent, place.first_use, place.last_use});
    if (recorder != nullptr) {
        recorder->add_in_burst(
            record::Placement{id, parent, place.type, place.at.chunk, place.first_use, place.last_use, place.at.offset, bytes});
    }
}

} // namespace schedscope
