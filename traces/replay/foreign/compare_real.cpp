#include "traces/replay/foreign/compare_real.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <map>
#include <set>

namespace schedscope {

namespace {

class Comparing {
public:
    Comparing(const RealSubject& subject, RealComparison& out) : s(subject), out(out) {}

    void plan(const Plan& p) {
        for (const RealPlan::Assigned& a : s.real.assigned) {
            const BackendId planned = s.own.in_session(p.assignments[a.tensor].backend);
            decide(planned == a.backend, a.tensor, [&] {
                const Assignment& ours = p.assignments[a.tensor];
                const std::string cause = cause_name(ours.cause, ours.source);
                return name(a.tensor) + ": ggml has it on " + backend(a.backend) + ", planned on " + backend(planned) +
                       (cause.empty() ? "" : " (" + cause + ")");
            });
        }
        splits(p);
        sources(p);
        for (const RealPlan::Printed& c : s.real.causes) {
            const Assignment& ours = p.assignments[c.tensor];
            ++out.causes;
            const bool same = ours.cause == c.cause && (c.cause != Cause::weight || ours.source == c.source);
            out.causes_identical += same ? 1 : 0;
            if (!same && out.first.empty()) {
                note(c.tensor, name(c.tensor) + ": ggml says " + cause_name(c.cause, c.source) + ", planned by " +
                                   cause_name(ours.cause, ours.source));
            }
        }
    }

    void nothing(const std::string& error) {
        out.decisions += std::ssize(s.real.assigned) + std::ssize(s.real.splits) + std::ssize(s.real.sources);
        for (const RealPlan::Part& split : s.real.splits) {
            out.decisions += std::ssize(split.inputs);
        }
        out.causes += std::ssize(s.real.causes);
        note(no_tensor, "no plan: " + error);
    }

    void memory(const Plan& plan, const MemoryPlan& planned) {
        std::map<TensorId, const PlacedTensor*> places;
        for (const PlacedTensor& t : planned.tensors) {
            places.emplace(t.tensor, &t);
        }
        for (const RealPlan::Place& real : s.real.places) {
            const TensorId id = planned_id(plan, s.own, real.tensor, real.copy);
            const auto found = places.find(id);
            const PlacedTensor* const ours = found == places.end() ? nullptr : found->second;
            place(ours != nullptr && ours->buffer_type == real.buffer_type && ours->chunk == real.chunk &&
                      ours->offset == real.offset,
                  id, [&] {
                      const std::string of = real.tensor != no_tensor
                                                 ? name(real.tensor)
                                                 : "the copy of " + name(real.copy.of) + " on " + backend(real.copy.backend);
                      return of + ": ggml has it at " + at(real.buffer_type, real.chunk, real.offset) + ", planned " +
                             (ours == nullptr ? "nowhere" : "at " + at(ours->buffer_type, ours->chunk, ours->offset));
                  });
            if (ours != nullptr) {
                places.erase(found);
            }
        }
        for (const auto& planned : places) {
            const auto& id = planned.first;
            const auto& ours = planned.second;
            const TensorId of = id < plan.n_tensors ? id : plan.copies[id - plan.n_tensors].of;
            place(false, id, [&] {
                return (id == of ? "" : "the copy of ") + name(of) + ": ggml has no place for it, planned at " +
                       at(ours->buffer_type, ours->chunk, ours->offset);
            });
        }
    }

    void no_memory(const std::string& error) {
        out.placements += std::ssize(s.real.places);
        note(no_tensor, "no memory: " + error);
    }

private:
    template <typename F> void decide(bool same, TensorId tensor, F&& words) {
        ++out.decisions;
        out.identical += same ? 1 : 0;
        if (!same && out.first.empty()) {
            note(tensor, words());
        }
    }
    template <typename F> void place(bool same, TensorId tensor, F&& words) {
        ++out.placements;
        out.placements_identical += same ? 1 : 0;
        if (!same && out.first.empty()) {
            note(is_index(tensor, s.graph.tensors) ? tensor : no_tensor, words());
        }
    }
    void note(TensorId tensor, const std::string& words) {
        if (out.first.empty()) {
            out.first = words;
            out.tensor = tensor;
        }
    }

    void splits(const Plan& p) {
        const size_t n = std::max(p.splits.size(), s.real.splits.size());
        for (size_t i = 0; i < n; ++i) {
            const Split* const ours = i < p.splits.size() ? &p.splits[i] : nullptr;
            const RealPlan::Part* const real = i < s.real.splits.size() ? &s.real.splits[i] : nullptr;
            const bool same = ours != nullptr && real != nullptr &&
                              (real->backend == no_backend || s.own.in_session(ours->backend) == real->backend) &&
                              ours->first_node == real->first_node && ours->end_node == real->end_node;
            decide(same, starter(real != nullptr ? real->first_node : ours->first_node), [&] {
                return "split " + std::to_string(i) + ": ggml has " +
                       (real == nullptr ? "none" : range(real->backend, real->first_node, real->end_node)) + ", planned " +
                       (ours == nullptr ? "none" : range(s.own.in_session(ours->backend), ours->first_node, ours->end_node));
            });
            const auto planned = ours == nullptr ? std::span<const TensorId>()
                                                 : std::span(p.split_inputs).subspan(ours->first_input, ours->n_inputs);
            inputs(i, real == nullptr ? std::span<const TensorId>() : std::span<const TensorId>(real->inputs), planned);
        }
    }

    void inputs(size_t split, std::span<const TensorId> real, std::span<const TensorId> planned) {
        for (size_t i = 0; i < std::max(real.size(), planned.size()); ++i) {
            const TensorId theirs = i < real.size() ? real[i] : no_tensor, ours = i < planned.size() ? planned[i] : no_tensor;
            decide(theirs == ours, theirs != no_tensor ? theirs : ours, [&] {
                return "input " + std::to_string(i) + " of split " + std::to_string(split) + ": ggml has " + name(theirs) +
                       ", planned " + name(ours);
            });
        }
    }

    void sources(const Plan& p) {
        struct Reads {
            const RealPlan::Source* real = nullptr;
            const Rewire* ours = nullptr;
        };
        std::map<std::pair<TensorId, int32_t>, Reads> all;
        for (const RealPlan::Source& real : s.real.sources) {
            all[{real.node, real.slot}].real = &real;
        }
        for (const Rewire& ours : p.rewires) {
            all[{ours.node, ours.source}].ours = &ours;
        }
        for (const auto& [key, reads] : all) {
            const Copy* const copy = reads.ours == nullptr ? nullptr : copy_of(p, *reads.ours);
            const RealCopy* const real = reads.real == nullptr ? nullptr : &reads.real->copy;
            const bool same = copy != nullptr && real != nullptr && copy->of == real->of &&
                              s.own.in_session(copy->backend) == real->backend && (real->stage < 0 || real->stage == copy->stage);
            decide(same, key.first, [&, &key = key] {
                return "source " + std::to_string(key.second) + " of " + name(key.first) + ": ggml reads " +
                       (real == nullptr ? "the tensor itself" : copy_text(real->of, real->backend, real->stage)) + ", planned " +
                       (copy == nullptr ? "the tensor itself"
                                        : copy_text(copy->of, s.own.in_session(copy->backend), copy->stage));
            });
        }
    }

    /// The stages of a tensor's copies may include itself.
    static const Copy* copy_of(const Plan& p, const Rewire& rewire) {
        const auto is_read = [&](const Copy& c) { return c.id == rewire.copy && c.of == rewire.original; };
        const auto found = std::find_if(p.copies.begin(), p.copies.end(), is_read);
        return found == p.copies.end() ? nullptr : &*found;
    }

    std::string name(TensorId id) const { return is_index(id, s.graph.tensors) ? std::string(s.graph.tensors[id].name) : "none"; }
    std::string backend(BackendId id) const {
        return is_index(id, s.session.backends) ? s.session.backends[id].name : "no backend";
    }
    std::string at(BufferTypeId type, int32_t chunk, int64_t offset) const {
        return std::to_string(offset) + " of " +
               (is_index(type, s.session.buffer_types) ? s.session.buffer_types[type].name : "no memory") +
               (chunk > 0 ? " chunk " + std::to_string(chunk) : "");
    }
    std::string range(BackendId b, int32_t first, int32_t end) const {
        return backend(b) + " for nodes " + std::to_string(first) + " to " + std::to_string(end - 1);
    }
    std::string copy_text(TensorId of, BackendId b, int32_t stage) const {
        return "the copy of " + name(of) + " on " + backend(b) + (stage > 0 ? ", stage " + std::to_string(stage) : "");
    }
    TensorId starter(int32_t node) const { return is_index(node, s.graph.nodes) ? s.graph.nodes[node] : no_tensor; }

    const RealSubject& s;
    RealComparison& out;
};

} // namespace

void compare_plan(const RealSubject& subject, const Plan* plan, const std::string& error, RealComparison& out) {
    plan != nullptr ? Comparing(subject, out).plan(*plan) : Comparing(subject, out).nothing(error);
}

void compare_memory(const RealSubject& subject, const Plan& plan, const MemoryPlan* memory, const std::string& error,
                    RealComparison& out) {
    memory != nullptr ? Comparing(subject, out).memory(plan, *memory) : Comparing(subject, out).no_memory(error);
}

std::optional<int32_t> stage_of(const RealPlan& real, int32_t n_stages) {
    if (n_stages < 2) {
        return std::nullopt;
    }
    const auto known = std::find_if(real.sources.begin(), real.sources.end(), [](const auto& s) { return s.copy.stage >= 0; });
    if (known != real.sources.end()) {
        return std::min(known->copy.stage, n_stages - 1);
    }
    std::set<int32_t> named;
    for (const RealPlan::Place& place : real.places) {
        if (place.copy.stage >= 0) {
            named.insert(place.copy.stage);
        }
    }
    for (int32_t stage = 0; stage < n_stages && std::ssize(named) == n_stages - 1; ++stage) {
        if (!named.contains(stage)) {
            return stage;
        }
    }
    return std::nullopt;
}

std::vector<RealCopy> copies_in_order(const RealPlan& real) {
    std::vector<RealCopy> copies;
    std::set<std::pair<TensorId, BackendId>> known;
    for (const RealPlan::Source& source : real.sources) {
        if (known.emplace(source.copy.of, source.copy.backend).second) {
            copies.push_back(source.copy);
        }
    }
    return copies;
}

TensorId planned_id(const Plan& plan, const OwnBackends& own, TensorId tensor, const RealCopy& copy) {
    if (tensor != no_tensor) {
        return tensor;
    }
    const BackendId backend = own.own(copy.backend);
    const int32_t first = backend == no_backend || copy.of == no_tensor ? -1 : plan.find_copies(copy.of, backend);
    const int32_t at = first + (copy.stage < 0 ? plan.current_stage : copy.stage);
    return first < 0 || !is_index(at, plan.copies) ? no_tensor : plan.copies[at].id;
}

} // namespace schedscope
