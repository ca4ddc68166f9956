#include "tests/support/traces/plan_record.h"

#include "runtime/ops/params.h"

namespace schedscope::test {

void PlanRecord::keep(const Record& record) {
    Notebook::keep(record);
    plans += std::holds_alternative<record::PlanBegin>(record.fact) ? 1 : 0; // graphs that were not planned are told, too
    if (const auto* a = std::get_if<record::Assign>(&record.fact)) {
        assigned_[a->tensor] = *a;
    } else if (const auto* s = std::get_if<record::SplitBegin>(&record.fact)) {
        splits_.push_back({backend_name(*s->backend), {}});
    } else if (const auto* i = std::get_if<record::SplitInput>(&record.fact)) {
        splits_[static_cast<size_t>(i->split)].inputs.emplace_back(graph_.tensors[static_cast<size_t>(i->tensor)].name);
    } else if (const auto* c = std::get_if<record::CopyMade>(&record.fact)) {
        copies_[c->copy] = copy_name(backend_name(c->backend), graph_.tensors[static_cast<size_t>(c->of)].name, *c->stage);
    } else if (const auto* r = std::get_if<record::Rewired>(&record.fact)) {
        rewired_[{r->node, r->source}] = copies_.at(r->copy);
    }
}

int64_t PlanRecord::bytes(TensorId id) const {
    const TensorInfo& t = graph_.tensors[static_cast<size_t>(id)];
    return static_cast<int64_t>(n_bytes(*t.type, *t.ne, *t.nb));
}

PlanRecord::Node PlanRecord::node(int index) const {
    const TensorId id = graph_.nodes[static_cast<size_t>(index)];
    const TensorInfo& t = graph_.tensors[static_cast<size_t>(id)];
    const auto place = [&](TensorId of, std::string& backend, std::string& cause) {
        if (const auto found = assigned_.find(of); found != assigned_.end()) {
            backend = backend_name(*found->second.after);
            cause = cause_name(*found->second.cause, found->second.source);
        }
    };
    Node n;
    n.op = op_description(*t.op, *t.params);
    n.name = t.name;
    n.bytes = bytes(id);
    place(id, n.backend, n.cause);
    for (size_t i = 0; i < t.src.size(); ++i) {
        if (t.src[i] == no_tensor) {
            continue;
        }
        Source s;
        s.bytes = bytes(t.src[i]);
        if (const auto copy = rewired_.find({id, static_cast<int32_t>(i)}); copy != rewired_.end()) {
            s.name = copy->second;
            s.cause = "4.cpy";
        } else {
            s.name = graph_.tensors[static_cast<size_t>(t.src[i])].name;
            place(t.src[i], s.backend, s.cause);
        }
        n.sources.push_back(s);
    }
    return n;
}

int PlanRecord::n_split_inputs() const {
    size_t n = 0;
    for (const SplitHeader& s : splits_) {
        n += s.inputs.size();
    }
    return static_cast<int>(n);
}

} // namespace schedscope::test
