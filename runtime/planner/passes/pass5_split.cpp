#include "runtime/planner/planning.h"

#include "runtime/numbers.h"

namespace schedscope {

namespace {

constexpr int32_t first_room = 30; ///< for a split's inputs; more is made by doubling

class Splitter {
public:
    explicit Splitter(Planning& planning) : p(planning), plan(planning.plan) {}

    void run() {
        const auto n_nodes = n_of(p.graph.nodes);
        int32_t first = 0;
        while (first < n_nodes && is_view_op(*node_at(first).op)) {
            ++first;
        }
        const TensorId starter = first < n_nodes ? p.graph.nodes[first] : no_tensor;
        if (starter != no_tensor) {
            p.carry.first_backend = p.backend_of(starter);
        }
        begin(SplitReason::first, p.carry.first_backend, 0, starter, no_tensor);
        for (int32_t i = first; i < n_nodes; ++i) {
            if (!is_view_op(*node_at(i).op)) {
                add_node(i);
            }
        }
        end(n_nodes);
    }

private:
    const TensorInfo& node_at(int32_t index) const { return p.tensor(p.graph.nodes[index]); }
    Split& split() { return plan.splits.back(); }
    int32_t split_index() const { return n_of(plan.splits) - 1; }
    /// Among the inputs of the split. Where all splits have the same, more than that many overflow as they did.
    int32_t room() const { return fixed_room > 0 ? fixed_room : p.carry.input_capacity[plan.splits.size() - 1]; }
    void make_room() {
        if (fixed_room == 0 && split().n_inputs == room()) {
            p.carry.input_capacity[plan.splits.size() - 1] = room() == 0 ? first_room : room() * 2;
        }
    }
    int32_t& copies_of(TensorId of, BackendId backend) {
        return plan.copy_index[of * static_cast<size_t>(p.n_backends) + backend];
    }

    void begin(SplitReason why, BackendId backend, int32_t first_node, TensorId node, TensorId by) {
        const auto first_input = n_of(plan.split_inputs);
        plan.splits.push_back({backend, why, first_node, first_node, first_input, 0});
        if (p.carry.input_capacity.size() < plan.splits.size()) {
            p.carry.input_capacity.push_back(0);
        }
        p.record(record::SplitBegin{split_index(), why, backend, first_node, node, by});
    }

    void end(int32_t end_node) {
        split().end_node = end_node;
        p.record(record::SplitEnd{split_index(), end_node, split().n_inputs});
    }

    void add_node(int32_t index) {
        const TensorId node = p.graph.nodes[index];
        const BackendId backend = p.backend_of(node);
        if (backend != split().backend) {
            end(index);
            begin(SplitReason::backend, backend, index, node, no_tensor);
        } else if (split().n_inputs > 0) {
            begin_for_inputs(node, index);
        }
        for_each_bit(p.sources_of(node), [&](int s) { add_source(node, backend, s); });
    }

    /// A split that has inputs already ends where memory of a copied weight can be used again, or where its list is full.
    void begin_for_inputs(TensorId node, int32_t index) {
        const BackendId backend = split().backend;
        const TensorInfo& t = p.tensor(node);
        const bool full = split().n_inputs >= room() && !p.options.rules.never_full;
        for (unsigned mask = p.sources_of(node); mask != 0; mask &= mask - 1) {
            const TensorId source = t.src[std::countr_zero(mask)];
            if (p.backend_of(source) == backend) {
                continue;
            }
            const TensorInfo& s = p.tensor(source);
            const bool weight = s.buffer_type != no_buffer_type && s.usage == BufferUsage::weights;
            const bool overflows = full && copies_of(source, backend) < 0;
            const bool decided = weight && p.options.rules.readable_weights_split;
            if (decided || ((weight || overflows) && !p.readable(source, backend, node))) {
                end(index);
                begin(weight ? SplitReason::weight : SplitReason::full, backend, index, node, source);
                return;
            }
        }
    }

    void add_source(TensorId node, BackendId backend, int slot) {
        const TensorId source = p.tensor(node).src[slot];
        const BackendId at = p.backend_of(source);
        if (at == no_backend) {
            refuse_unassigned(node, source, slot);
        }
        if (plan.n_stages > 1 && (plan.flags[source] & flag_input) != 0 && copies_of(source, at) < 0) {
            plan.graph_inputs.push_back(source);
            p.record(record::GraphInput{source});
            copies_of(source, at) = make_copies(source, at, true);
        }
        if (at == backend || p.readable(source, backend, node)) {
            return;
        }
        if (copies_of(source, backend) < 0) {
            add_input(node, source, at);
            copies_of(source, backend) = make_copies(source, backend, false);
        }
        const Copy& copy = plan.copies[copies_of(source, backend) + plan.current_stage];
        plan.rewires.push_back({node, slot, source, copy.id});
        p.record(record::Rewired{node, slot, source, copy.id});
    }

    void add_input(TensorId node, TensorId source, BackendId from) {
        make_room();
        ++split().n_inputs;
        plan.split_inputs.push_back(source);
        p.record(record::SplitInput{split_index(), source, node, from, bytes_of(p.tensor(source))});
    }

    /// One copy per stage; an input kept per stage serves as the present stage's copy itself. Returns the index of stage 0.
    int32_t make_copies(TensorId of, BackendId backend, bool graph_input) {
        const auto group = n_of(plan.copies);
        const int64_t bytes = bytes_of(p.tensor(of));
        // Input and output: the allocator must neither move nor reuse what another stage still needs.
        const uint8_t flags = plan.n_stages > 1 ? flag_input | flag_output : 0;
        for (int16_t stage = 0; stage < plan.n_stages; ++stage) {
            const bool itself = graph_input && stage == plan.current_stage;
            const TensorId id = itself ? of : plan.n_tensors + n_of(plan.copies);
            plan.copies.push_back({id, of, backend, stage});
            plan.assignments.push_back({backend, Cause::copy, -1});
            plan.flags.push_back(flags);
            plan.bytes.push_back(bytes);
            if (itself) {
                p.assign(of, backend, Cause::copy);
                plan.flags[of] |= flags;
            } else {
                p.record(record::CopyMade{id, of, backend, stage, graph_input, bytes});
            }
        }
        return group;
    }

    [[noreturn]] void refuse_unassigned(TensorId node, TensorId source, int slot) const {
        throw PlanError("src_unassigned", Pass::split, source,
                        "tensor " + p.name(source) + ", source " + std::to_string(slot) + " of " + p.name(node) +
                            ", has no backend: it is a view of a tensor that no node uses directly");
    }

    Planning& p;
    Plan& plan;
    const int32_t fixed_room = p.options.rules.split_inputs;
};

} // namespace

void pass5_split(Planning& planning) { Splitter(planning).run(); }

} // namespace schedscope
