#include "tests/support/random/plan_checks.h"

#include <algorithm>
#include <map>
#include <set>

namespace schedscope::test {

namespace {

bool moves_no_data(Op op) { return op == Op::VIEW || op == Op::RESHAPE || op == Op::PERMUTE || op == Op::TRANSPOSE; }

/// Positions of nodes by tensor.
std::map<TensorId, int32_t> positions(const GraphView& graph) {
    std::map<TensorId, int32_t> found;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        found[graph.nodes[i]] = static_cast<int32_t>(i);
    }
    return found;
}

} // namespace

std::string PlanView::name(TensorId id) const {
    if (id < 0) {
        return "nothing";
    }
    return id < plan.n_tensors ? std::string(info(id).name) + "@" + std::to_string(id)
                               : "copy " + std::to_string(id - plan.n_tensors);
}

TensorId PlanView::root(TensorId id) const {
    return id < plan.n_tensors && info(id).view_source >= 0 ? info(id).view_source : id;
}

BufferTypeId PlanView::memory_of(TensorId id) const {
    const TensorId owner = root(id);
    if (owner < plan.n_tensors && info(owner).buffer_type != no_buffer_type) {
        return info(owner).buffer_type;
    }
    const auto placed =
        std::find_if(memory.tensors.begin(), memory.tensors.end(), [owner](const PlacedTensor& t) { return t.tensor == owner; });
    return placed == memory.tensors.end() ? no_buffer_type : placed->buffer_type;
}

TensorId PlanView::reads(TensorId node, int slot) const {
    for (const Rewire& r : plan.rewires) {
        if (r.node == node && r.source == slot) {
            return r.copy;
        }
    }
    return info(node).src[static_cast<size_t>(slot)];
}

int32_t PlanView::split_of(int32_t position) const {
    for (size_t s = 0; s < plan.splits.size(); ++s) {
        if (plan.splits[s].first_node <= position && position < plan.splits[s].end_node) {
            return static_cast<int32_t>(s);
        }
    }
    return -1;
}

bool writes_out_of_reach(const PlanView& view) {
    return std::any_of(view.graph.nodes.begin(), view.graph.nodes.end(), [&](TensorId node) {
        if (!view.info(node).is_view() || moves_no_data(*view.info(node).op)) {
            return false;
        }
        const TensorId root = view.root(node);
        const BufferTypeId lies = view.memory_of(node);
        const BufferTypeId planned = view.info(root).buffer_type != no_buffer_type
                                         ? lies
                                         : view.answers.default_buffer_type(view.assignment(root).backend);
        const BackendId b = view.assignment(node).backend;
        return lies != no_buffer_type &&
               (!view.answers.supports_buffer_type(b, lies) || !view.answers.supports_buffer_type(b, planned));
    });
}

std::string check_support(const PlanView& view) {
    for (const TensorId node : view.graph.nodes) {
        const BackendId b = view.assignment(node).backend;
        if (b < 0 || b >= view.answers.n_backends()) {
            return view.name(node) + " has no backend";
        }
        if (moves_no_data(*view.info(node).op)) {
            continue;
        }
        const std::string where = view.name(node) + " on backend " + std::to_string(b);
        if (!view.answers.supports_op(b, node).yes) {
            return where + ", which refuses it";
        }
        for (int slot = -1; slot < max_sources; ++slot) {
            const TensorId used = slot < 0 ? node : view.reads(node, slot);
            if (used == no_tensor) {
                continue;
            }
            const BufferTypeId type = view.memory_of(used);
            if (type == no_buffer_type || !view.answers.supports_buffer_type(b, type)) {
                return where + " needs " + view.name(used) + " in memory " + std::to_string(type);
            }
        }
    }
    return "";
}

std::string check_splits(const PlanView& view) {
    const auto& splits = view.plan.splits;
    int32_t next = 0, next_input = 0;
    for (size_t s = 0; s < splits.size(); ++s) {
        const Split& split = splits[s];
        const std::string who = "split " + std::to_string(s);
        if (split.first_node != next || split.end_node < split.first_node || split.first_input != next_input) {
            return who + " does not begin where the one before ends";
        }
        next = split.end_node;
        next_input += split.n_inputs;
        const bool changes = s > 0 && splits[s - 1].backend != split.backend;
        if ((split.why == SplitReason::first) != (s == 0) || (split.why == SplitReason::backend) != changes) {
            return who + " begins for the wrong reason";
        }
        if (s > 0 && !changes && splits[s - 1].n_inputs == 0) {
            return who + " begins on the same backend although nothing was copied";
        }
        for (int32_t i = split.first_node; i < split.end_node; ++i) {
            const TensorId node = view.graph.nodes[static_cast<size_t>(i)];
            if (!moves_no_data(*view.info(node).op) && view.assignment(node).backend != split.backend) {
                return who + " holds " + view.name(node) + " of another backend";
            }
        }
    }
    const bool all = next == static_cast<int32_t>(view.graph.nodes.size()) &&
                     next_input == static_cast<int32_t>(view.plan.split_inputs.size());
    return all ? "" : "nodes or inputs are left over";
}

std::string check_copies(const PlanView& view) {
    const Plan& plan = view.plan;
    const auto at = positions(view.graph);
    std::map<std::pair<TensorId, BackendId>, int32_t> made_in; // the split that copies a tensor to a backend
    for (size_t s = 0; s < plan.splits.size(); ++s) {
        for (int32_t i = 0; i < plan.splits[s].n_inputs; ++i) {
            const TensorId input = plan.split_inputs[static_cast<size_t>(plan.splits[s].first_input + i)];
            if (!made_in.try_emplace({input, plan.splits[s].backend}, static_cast<int32_t>(s)).second) {
                return view.name(input) + " is copied to one backend twice";
            }
            // A view may stand in the split itself: what counts is who writes its data, see below.
            const auto node = at.find(input);
            if (node != at.end() && node->second >= plan.splits[s].first_node && !moves_no_data(*view.info(input).op)) {
                return view.name(input) + " is copied before it is computed";
            }
        }
    }
    std::set<std::pair<TensorId, BackendId>> used, used_where_made;
    for (const Rewire& r : plan.rewires) {
        if (r.copy < plan.n_tensors) {
            return view.name(r.node) + " is rewired to no copy";
        }
        const Copy& copy = plan.copies[static_cast<size_t>(r.copy - plan.n_tensors)];
        const int32_t position = at.at(r.node), split = view.split_of(position);
        const auto made = made_in.find({copy.of, copy.backend});
        if (copy.of != r.original || r.original != view.info(r.node).src[static_cast<size_t>(r.source)] || copy.id != r.copy) {
            return view.name(r.node) + " is rewired to a copy of something else";
        }
        if (copy.stage != plan.current_stage || copy.backend != plan.splits[static_cast<size_t>(split)].backend) {
            return view.name(r.node) + " is rewired to a copy of another stage or backend";
        }
        if (made == made_in.end() || made->second > split) {
            return view.name(r.copy) + " is read before it is made";
        }
        used.insert(made->first);
        if (made->second == split) {
            used_where_made.insert(made->first);
        }
        for (int32_t i = plan.splits[static_cast<size_t>(made->second)].first_node; i < position; ++i) {
            const TensorId writer = view.graph.nodes[static_cast<size_t>(i)];
            if (!moves_no_data(*view.info(writer).op) && view.root(writer) == view.root(copy.of)) {
                return view.name(writer) + " writes what " + view.name(r.node) + " reads an older copy of";
            }
        }
    }
    for (const auto& [what, split] : made_in) {
        if (!used_where_made.contains(what)) {
            return view.name(what.first) + " is copied into split " + std::to_string(split) + ", which does not read it";
        }
    }
    for (const Copy& copy : plan.copies) {
        const bool of_input = std::find(plan.graph_inputs.begin(), plan.graph_inputs.end(), copy.of) != plan.graph_inputs.end() &&
                              copy.backend == view.assignment(copy.of).backend;
        if (!of_input && !used.contains({copy.of, copy.backend})) {
            return view.name(copy.id) + " of " + view.name(copy.of) + " is not used";
        }
    }
    return "";
}

std::string check_stages(const PlanView& view) {
    const Plan& plan = view.plan;
    std::map<std::pair<TensorId, BackendId>, std::set<int>> stages;
    for (const Copy& copy : plan.copies) {
        stages[{copy.of, copy.backend}].insert(copy.stage);
    }
    for (const auto& [what, there] : stages) {
        if (there.size() != static_cast<size_t>(plan.n_stages)) {
            return view.name(what.first) + " has not one copy per stage";
        }
    }
    if (plan.n_stages == 1) {
        return plan.graph_inputs.empty() ? "" : "graph inputs are kept apart without stages";
    }
    for (const TensorId node : view.graph.nodes) {
        for (const TensorId source : view.info(node).src) {
            const bool input = source != no_tensor && (view.info(source).flags & flag_input) != 0;
            if (input && !moves_no_data(*view.info(node).op) && !stages.contains({source, view.assignment(source).backend})) {
                return "input " + view.name(source) + " is not kept once per stage";
            }
        }
    }
    for (const Copy& copy : plan.copies) {
        const auto placed = std::find_if(view.memory.tensors.begin(), view.memory.tensors.end(),
                                         [&](const PlacedTensor& t) { return t.tensor == copy.id; });
        if (placed == view.memory.tensors.end()) {
            if (copy.id != copy.of || view.info(copy.of).buffer_type == no_buffer_type) {
                return view.name(copy.id) + " has no place";
            }
            continue;
        }
        for (const PlacedTensor& other : view.memory.tensors) {
            const bool same_bytes = other.buffer_type == placed->buffer_type && other.chunk == placed->chunk &&
                                    other.offset < placed->offset + placed->size && placed->offset < other.offset + other.size;
            if (&other != &*placed && same_bytes) {
                return view.name(other.tensor) + " overwrites " + view.name(copy.id) + ", which another stage may still need";
            }
        }
    }
    return "";
}

} // namespace schedscope::test
