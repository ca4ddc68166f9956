#pragma once

#include "runtime/planner/capability_table.h"
#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "tests/support/traces/notebook.h"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

/// Small graphs by hand, and what must be decided about them.
namespace schedscope::test {

/// A graph with backends that answer by lists. Every backend supports every operator and only its own memory until something else
/// is said; backends and buffer types are called by the same names. The last backend is the CPU, in host memory.
class Sketch final : public Capabilities {
public:
    explicit Sketch(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            BufferTypeInfo type;
            type.name = name;
            session.buffer_types.push_back(type);
            session.backends.push_back({name, name, "", "", 0, static_cast<BufferTypeId>(session.backends.size()), {}});
        }
        session.buffer_types.back().is_host = true;
        for (size_t b = 0; b < session.backends.size(); ++b) {
            session.backends[b].supports_buffer_type.assign(session.backends.size(), 0);
            session.backends[b].supports_buffer_type[b] = 1;
        }
        refuses_.resize(session.backends.size());
        offloads_.resize(session.backends.size());
    }

    // Backends
    Sketch& refuse(const std::string& backend, std::initializer_list<Op> ops) {
        refuses_[index(backend)].insert(ops);
        return *this;
    }
    Sketch& can_use(const std::string& backend, const std::string& memory) {
        session.backends[index(backend)].supports_buffer_type[index(memory)] = 1;
        return *this;
    }
    Sketch& shares_memory(const std::string& backend, const std::string& with) {
        session.backends[index(backend)].default_buffer_type = static_cast<BufferTypeId>(index(with));
        return can_use(backend, with);
    }
    Sketch& offers_offload(const std::string& backend, std::initializer_list<Op> ops) {
        offloads_[index(backend)].insert(ops);
        return *this;
    }

    // Tensors
    TensorId leaf(const std::string& name) { return add(name, Op::NONE, {}, graph.leafs); }
    TensorId input(const std::string& name) {
        const TensorId id = leaf(name);
        at(id).flags |= flag_input;
        return id;
    }
    TensorId allocated(const std::string& name, const std::string& memory, BufferUsage usage = BufferUsage::any) {
        const TensorId id = leaf(name);
        at(id).buffer_type = static_cast<BufferTypeId>(index(memory));
        at(id).usage = usage;
        return id;
    }
    TensorId weight(const std::string& name, const std::string& memory) { return allocated(name, memory, BufferUsage::weights); }
    TensorId node(const std::string& name, Op op, std::initializer_list<TensorId> sources) {
        return add(name, op, sources, graph.nodes);
    }
    TensorId view(const std::string& name, Op op, TensorId of) {
        const TensorId id = node(name, op, {of});
        at(id).view_source = at(of).is_view() ? at(of).view_source : of;
        return id;
    }
    /// Reachable as a source only: in neither list.
    TensorId outside(const std::string& name, Op op, std::initializer_list<TensorId> sources) {
        std::vector<TensorId> nowhere;
        return add(name, op, sources, nowhere);
    }
    TensorInfo& at(TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }
    TensorId id(const std::string& name) const {
        for (size_t i = 0; i < graph.tensors.size(); ++i) {
            if (graph.tensors[i].name == name) {
                return static_cast<TensorId>(i);
            }
        }
        return no_tensor;
    }

    // Capabilities
    int n_backends() const noexcept override { return static_cast<int>(session.backends.size()); }
    BufferTypeId default_buffer_type(BackendId b) const override {
        return session.backends[static_cast<size_t>(b)].default_buffer_type.value_or(no_buffer_type);
    }
    bool is_host(BufferTypeId type) const override { return session.buffer_types[static_cast<size_t>(type)].is_host; }
    Answer supports_op(BackendId b, TensorId t) const override {
        const bool refused = refuses_[static_cast<size_t>(b)].contains(*graph.tensors[static_cast<size_t>(t)].op);
        return refused ? Answer::no(Refusal::op, "operator not supported") : Answer{};
    }
    bool supports_buffer_type(BackendId b, BufferTypeId type) const override {
        return session.backends[static_cast<size_t>(b)].supports_buffer_type[static_cast<size_t>(type)] != 0;
    }
    bool wants_offload(BackendId b, TensorId t) const override {
        return offloads_[static_cast<size_t>(b)].contains(*graph.tensors[static_cast<size_t>(t)].op);
    }

    OwnedGraph graph;
    SessionInfo session;

private:
    TensorId add(const std::string& name, Op op, std::initializer_list<TensorId> sources, std::vector<TensorId>& list) {
        TensorInfo t;
        t.name = graph.keep(name);
        t.op = op;
        t.ne = {16, 4, 1, 1};
        t.nb = contiguous_strides(*t.type, *t.ne);
        std::copy(sources.begin(), sources.end(), t.src.begin());
        const auto id = static_cast<TensorId>(graph.tensors.size());
        graph.tensors.push_back(t);
        list.push_back(id);
        return id;
    }
    size_t index(const std::string& backend) const {
        size_t i = 0;
        while (session.backends.at(i).name != backend) {
            ++i;
        }
        return i;
    }

    std::vector<std::set<Op>> refuses_, offloads_;
};

/// A plan, told in names.
class Planned {
public:
    explicit Planned(Sketch& sketch, PlanOptions options = {}, Recorder* recorder = nullptr) : sketch_(sketch) {
        again(options, recorder);
    }

    void again(PlanOptions options = {}, Recorder* recorder = nullptr) {
        options.session = &sketch_.session;
        make_plan(sketch_.graph.view(), sketch_, options, carry, plan, recorder);
    }

    /// "GPU0 1.wgt0"; "- 1.wgt0" when unassigned.
    std::string operator[](const std::string& name) const {
        const Assignment& a = plan.assignments[static_cast<size_t>(sketch_.id(name))];
        return backend(a.backend) + " " + cause_name(a.cause, a.source);
    }
    /// "GPU0[0,3) first: x w | CPU[3,4) backend:"
    std::string splits() const {
        std::string text;
        for (const Split& s : plan.splits) {
            text.append(text.empty() ? "" : " | ").append(backend(s.backend)).append("[").append(std::to_string(s.first_node));
            text.append(",").append(std::to_string(s.end_node)).append(") ").append(split_reason_name(s.why)).append(":");
            for (int32_t i = 0; i < s.n_inputs; ++i) {
                text.append(" ").append(name(plan.split_inputs[static_cast<size_t>(s.first_input + i)]));
            }
        }
        return text;
    }
    /// "y.0=GPU0#x#0 y.1=…"
    std::string rewires() const {
        std::string text;
        for (const Rewire& r : plan.rewires) {
            text.append(text.empty() ? "" : " ").append(name(r.node)).append(".").append(std::to_string(r.source));
            text.append("=").append(name(r.copy));
        }
        return text;
    }
    std::string copies() const {
        std::string text;
        for (const Copy& c : plan.copies) {
            text.append(text.empty() ? "" : " ").append(name(c.id));
        }
        return text;
    }
    std::string name(TensorId id) const {
        if (id < plan.n_tensors) {
            return std::string(sketch_.graph.tensors[static_cast<size_t>(id)].name);
        }
        const Copy& c = plan.copies[static_cast<size_t>(id - plan.n_tensors)];
        return copy_name(backend(c.backend), name(c.of), c.stage);
    }

    Plan plan;
    Carry carry;

private:
    std::string backend(BackendId b) const {
        return b == no_backend ? "-" : sketch_.session.backends[static_cast<size_t>(b)].name;
    }
    Sketch& sketch_;
};

/// The error that planning ends with: "class: sentence"; empty: none.
inline std::string plan_error(Sketch& sketch, Recorder* recorder = nullptr) {
    try {
        Planned planned(sketch, {}, recorder);
    } catch (const PlanError& error) {
        return error.error_class + ": " + error.what();
    }
    return "";
}

} // namespace schedscope::test
