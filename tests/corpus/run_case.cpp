#include "tests/corpus/run_case.h"

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"

#include <algorithm>

namespace schedscope::corpus {

namespace {

char backend_digit(BackendId backend) { return backend == no_backend ? '.' : "0123456789abcdef"[backend]; }

std::string backend_map(const Plan& plan) {
    std::string map;
    for (int32_t id = 0; id < plan.n_tensors; ++id) {
        map += backend_digit(plan.assignments[static_cast<size_t>(id)].backend);
    }
    return map;
}

class MapsOfPasses final : public PassObserver {
public:
    explicit MapsOfPasses(Outcome& outcome) : outcome_(outcome) {}
    void after(Pass pass, const Plan& plan) override {
        if (pass != Pass::split) {
            outcome_.passes[std::string(pass_name(pass))] = backend_map(plan);
        }
    }

private:
    Outcome& outcome_;
};

/// The corpus's word for where an error came up.
std::string error_place(Pass pass) {
    switch (pass) {
    case Pass::place: return "pass1";
    case Pass::sources: return "pass4";
    case Pass::split: return "pass5";
    case Pass::allocate: return "alloc";
    default: return std::string(pass_name(pass));
    }
}

class CaseRun {
public:
    explicit CaseRun(const Case& c) : case_(c) {}

    RunRound run(const Round& round) {
        const OwnedGraph& graph = round.graph ? *round.graph : case_.graph;
        if (round.synchronise_before) {
            next_stage_ = 0;
        }
        RunRound done;
        done.current_stage = case_.allocates ? next_stage_ : round.current_stage;
        try {
            decide(graph.view(), done);
        } catch (const PlanError& error) {
            done.outcome.error = error.error_class;
            done.outcome.where = error_place(error.where);
        }
        return done;
    }

private:
    void decide(const GraphView& graph, RunRound& done) {
        const MockCapabilities capabilities(case_, graph);
        PlanOptions options;
        options.op_offload = case_.op_offload;
        options.n_stages = case_.n_stages;
        options.current_stage = done.current_stage;
        options.session = &case_.session;
        MapsOfPasses passes(done.outcome);
        make_plan(graph, capabilities, options, carry_, plan_, nullptr, &passes);
        describe_plan(graph, done.outcome);
        if (case_.allocates) {
            next_stage_ = (next_stage_ + 1) % case_.n_stages;
            AllocatedGraph allocated;
            copy_graph(graph, plan_, graph.nodes, allocated);
            const MemoryPlan& memory =
                planner_.place(graph, plan_, graph.nodes, capabilities, case_.session.buffer_types, nullptr);
            describe_memory(allocated, memory, done.outcome.allocation.emplace());
        }
    }

    void describe_plan(const GraphView& graph, Outcome& out) const {
        out.assign = backend_map(plan_);
        for (int32_t id = 0; id < plan_.n_tensors; ++id) {
            const Assignment& a = plan_.assignments[static_cast<size_t>(id)];
            out.causes.push_back(cause_name(a.cause, a.source));
        }
        for (const Split& split : plan_.splits) {
            const auto first = plan_.split_inputs.begin() + split.first_input;
            out.splits.push_back({split.backend,
                                  split.first_node,
                                  split.end_node,
                                  {first, first + split.n_inputs},
                                  std::string(split_reason_name(split.why))});
        }
        for (const Rewire& r : plan_.rewires) {
            const Copy& copy = plan_.copies[static_cast<size_t>(r.copy - plan_.n_tensors)];
            out.rewired.push_back({r.node, r.source, r.original, copy.backend, copy.stage});
        }
        for (size_t group = 0; group < plan_.copies.size(); group += static_cast<size_t>(plan_.n_stages)) {
            Row::Copies row{plan_.copies[group].of, plan_.copies[group].backend, {}};
            for (int stage = 0; stage < plan_.n_stages; ++stage) {
                const Copy& copy = plan_.copies[group + static_cast<size_t>(stage)];
                const std::string_view original = graph.tensors[static_cast<size_t>(copy.of)].name;
                row.names.push_back(copy.id == copy.of ? "" : copy_name(backend_name(copy.backend), original, copy.stage));
            }
            out.copies.push_back(std::move(row));
        }
        std::ranges::sort(out.copies, {}, [](const Row::Copies& row) { return std::pair(row.of, row.backend); });
        out.graph_inputs = plan_.graph_inputs;
    }

    void describe_memory(const AllocatedGraph& allocated, const MemoryPlan& memory, PlannedPlaces& out) const {
        for (const AllocatedEntry& entry : allocated.nodes) {
            out.nodes.push_back(entry.dependency ? std::string("d").append(std::to_string(entry.tensor))
                                                 : reference(entry.tensor));
            out.node_backends += backend_digit(entry.backend);
        }
        for (const AllocatedEntry& entry : allocated.leafs) {
            out.leafs.push_back(reference(entry.tensor));
            out.leaf_backends += backend_digit(entry.backend);
        }
        out.reserve = reserve_name(memory.why);
        for (const MockBackend& backend : case_.backends) {
            out.buffers.push_back(memory.chunk_sizes[static_cast<size_t>(backend.buffer_type)]);
        }
        for (const PlacedTensor& t : memory.tensors) {
            const auto first = std::ranges::find(case_.backends, t.buffer_type, &MockBackend::buffer_type);
            out.tensors.push_back(
                {reference(t.tensor), static_cast<int>(first - case_.backends.begin()), t.chunk, t.offset, t.size});
        }
    }

    /// With one backend ggml plans again without saying so.
    std::string reserve_name(Replan why) const {
        if (why == Replan::no || case_.backends.size() == 1) {
            return "none";
        }
        return why == Replan::needs_realloc ? "needs_realloc" : "backend_changed";
    }

    std::string reference(TensorId id) const {
        if (id < plan_.n_tensors) {
            return std::to_string(id);
        }
        const Copy& copy = plan_.copies[static_cast<size_t>(id - plan_.n_tensors)];
        std::string text = "c";
        for (const int part : {copy.of, TensorId{copy.backend}, TensorId{copy.stage}}) {
            text.append(text.size() > 1 ? "." : "").append(std::to_string(part));
        }
        return text;
    }

    const std::string& backend_name(BackendId backend) const { return case_.backends[static_cast<size_t>(backend)].name; }

    const Case& case_;
    Carry carry_;
    Plan plan_;
    MemoryPlanner planner_;
    int next_stage_ = 0;
};

} // namespace

Answer MockCapabilities::supports_op(BackendId backend, TensorId id) const {
    const MockBackend& b = mock(backend);
    const TensorInfo& t = tensor(id);
    if (!b.ops[static_cast<size_t>(*t.op)]) {
        return Answer::no(Refusal::op, "operator not in the backend's list");
    }
    const auto refused = [&](const std::pair<Op, Type>& pair) {
        return pair.first == t.op && t.src[0] != no_tensor && tensor(t.src[0]).type == pair.second;
    };
    if (std::ranges::any_of(b.refuses, refused)) {
        return Answer::no(Refusal::type, "type of source 0 refused");
    }
    return {};
}

bool MockCapabilities::supports_buffer_type(BackendId backend, BufferTypeId type) const {
    return mock(backend).uses[static_cast<size_t>(type)] != 0;
}

bool MockCapabilities::wants_offload(BackendId backend, TensorId id) const {
    const MockBackend& b = mock(backend);
    const TensorInfo& t = tensor(id);
    return b.offload_ops[static_cast<size_t>(*t.op)] && (*t.ne)[1] >= b.offload_min_batch;
}

std::vector<RunRound> run_case(const Case& c) {
    CaseRun run(c);
    std::vector<RunRound> rounds;
    if (c.error_round >= 0) {
        for (int round = 0; round <= c.error_round; ++round) {
            rounds.push_back(run.run(c.rounds.front()));
        }
    } else {
        for (const Round& round : c.rounds) {
            rounds.push_back(run.run(round));
        }
    }
    return rounds;
}

} // namespace schedscope::corpus
