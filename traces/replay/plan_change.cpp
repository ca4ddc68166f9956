#include "traces/replay/plan_change.h"

#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/diff/align.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/words/misfit_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/foreign/named_parts.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace schedscope {

namespace {

/// How one tensor came to where it is: its assignments, in order.
struct TensorWay {
    struct Stop {
        Pass pass = Pass::none;
        std::string backend, cause;
        bool operator==(const Stop&) const = default;
    };
    std::vector<Stop> stops;
};

/// [tensors of the graph]
std::vector<TensorWay> ways_of(const PlanText& plan) {
    std::vector<TensorWay> ways(plan.graph.tensors.size());
    for (const Record& r : plan.decisions) {
        const auto* a = std::get_if<record::Assign>(&r.fact);
        if (a != nullptr && is_index(a->tensor, ways)) {
            ways[a->tensor].stops.push_back(
                {a->pass.value_or(Pass::none), plan.backend(or_none(a->after)), cause_text(a->cause, a->source)});
        }
    }
    return ways;
}

/// The first pass that decides otherwise.
Pass where_apart(const TensorWay& a, const TensorWay& b) {
    const auto [x, y] = std::mismatch(a.stops.begin(), a.stops.end(), b.stops.begin(), b.stops.end());
    if (x == a.stops.end() || y == b.stops.end()) {
        return x != a.stops.end() ? x->pass : y != b.stops.end() ? y->pass : Pass::none;
    }
    return std::min(x->pass, y->pass);
}

constexpr std::string_view compute_buffer = "compute buffer of ", weights_in = "weights in ";

/// The tensors in the order in which a person reads a graph: leafs, then nodes.
std::vector<std::pair<TensorId, bool>> in_order(const OwnedGraph& graph) {
    std::vector<std::pair<TensorId, bool>> order;
    for (const TensorId id : graph.leafs) {
        order.emplace_back(id, false);
    }
    for (const TensorId id : graph.nodes) {
        order.emplace_back(id, true);
    }
    return order;
}

} // namespace

PlanFigures FigureCounter::of(const PlanText& plan) {
    PlanFigures f;
    std::vector<BackendId> at(plan.graph.tensors.size(), no_backend);
    for (const Record& r : plan.decisions) {
        if (const auto* a = std::get_if<record::Assign>(&r.fact)) {
            if (is_index(a->tensor, at)) {
                at[a->tensor] = or_none(a->after);
            }
        } else if (const auto* input = std::get_if<record::SplitInput>(&r.fact)) {
            ++f.inputs;
            f.bytes_moved += input->bytes.value_or(0);
        } else if (std::holds_alternative<record::CopyMade>(r.fact)) {
            ++f.copies;
        } else if (std::holds_alternative<record::SplitBegin>(r.fact)) {
            ++f.splits;
        } else if (const auto* size = std::get_if<record::BufferSize>(&r.fact)) {
            chunks_[{plan.buffer_type(size->buffer_type), size->chunk}] = size->size;
        } else if (const auto* end = std::get_if<record::PlanEnd>(&r.fact); end != nullptr && end->error != 0) {
            f.error = plan.text(end->error);
        }
    }
    for (const TensorId id : plan.graph.nodes) {
        if (at[id] != no_backend) {
            ++f.nodes[plan.backend(at[id])];
        }
    }
    for (const accounts::ResidentRow& row : accounts::resident_memory(plan.graph)) {
        const std::string where = plan.buffer_type(row.buffer_type);
        f.memory[std::string(row.what) + " in " + where] += row.size.bytes;
        f.by_buffer_type[where] += row.size.bytes;
    }
    for (const auto& [chunk, bytes] : chunks_) {
        f.memory[std::string(compute_buffer) + chunk.first] += bytes;
        f.by_buffer_type[chunk.first] += bytes;
    }
    return f;
}

std::vector<Measure> measures_of(const PlanComparison& plan) {
    using Unit = Measure::Unit;
    std::vector<Measure> measures;
    const PlanFigures &before = plan.recorded, &after = plan.now;
    const auto add_each = [&](const std::string& of, Unit unit, auto figures) {
        std::map<std::string, Measure> both;
        for (const auto& [name, n] : before.*figures) {
            both.try_emplace(name, Measure{of + name, unit, 0, 0}).first->second.a = n;
        }
        for (const auto& [name, n] : after.*figures) {
            both.try_emplace(name, Measure{of + name, unit, 0, 0}).first->second.b = n;
        }
        for (auto& [name, measure] : both) {
            measures.push_back(std::move(measure));
        }
    };
    add_each("nodes on ", Unit::count, &PlanFigures::nodes);
    measures.push_back({"splits", Unit::count, before.splits, after.splits});
    measures.push_back({"inputs of splits", Unit::count, before.inputs, after.inputs});
    measures.push_back({"copies", Unit::count, before.copies, after.copies});
    measures.push_back({"bytes copied a run", Unit::bytes, before.bytes_moved, after.bytes_moved});
    if (before.fused_groups || after.fused_groups) {
        measures.push_back({"fused groups", Unit::count, before.fused_groups, after.fused_groups});
    }
    add_each("", Unit::bytes, &PlanFigures::memory);
    for (Measure& m : measures) {
        m.is_about = after.about && m.name.starts_with(compute_buffer);
    }
    return measures;
}

std::string MemoryFit::text(int64_t bytes, bool about) const {
    const std::string of =
        joined({about ? "about " : "", words::bytes(bytes), " of ", memory <= 0 ? std::string("unknown") : words::bytes(memory)});
    return memory <= 0   ? of
           : fits(bytes) ? "fits: " + of
                         : joined({misfit_words(paged), ": ", too_much(bytes, about), " (", of, ")"});
}

std::string MemoryFit::brief(int64_t bytes, bool about) const {
    if (memory <= 0 || !fits(bytes)) {
        return too_much(bytes, about);
    }
    const auto parts = [](const std::string& text) {
        return std::pair(text.substr(0, text.rfind(' ')), text.substr(text.rfind(' ')));
    };
    const auto [need, unit] = parts(words::bytes(bytes));
    const auto [all, unit_of_all] = parts(words::bytes(memory));
    return joined({"fits: ", about ? "about " : "", need, unit == unit_of_all ? "" : unit, " of ", all, unit_of_all});
}

std::string MemoryFit::text_of_recorded() const { return is_added ? not_there_text : text(recorded); }
std::string MemoryFit::text_of_now() const { return is_removed ? not_there_text : text(now, is_about); }

std::string MemoryFit::too_much(int64_t bytes, bool about) const {
    return fits(bytes) ? "" : joined({about ? "about " : "", words::bytes(bytes - memory), " too much"});
}

std::string MemoryFit::misfit() const {
    return fits(now) ? "" : joined({misfit_words(paged), " into ", backend, ": ", too_much(now, is_about)});
}

std::vector<MemoryFit> memory_fits(const PlanComparison& plan, const SessionInfo& session) {
    std::map<std::string, const BufferTypeInfo*, std::less<>> types;
    for (const BufferTypeInfo& type : session.buffer_types) {
        types.emplace(type.name, &type);
    }
    const auto own_type = [&](const BackendInfo& b) {
        return b.default_buffer_type ? std::string_view(session.buffer_types[*b.default_buffer_type].name) : std::string_view();
    };
    // Host memory is the last backend's, whoever allocated it; so is what that one laid out for itself.
    const auto laid_out = [&](const BufferTypeInfo& type) {
        const auto& supported = session.backends.back().supports_buffer_type;
        const auto at = static_cast<size_t>(&type - session.buffer_types.data());
        return session.backends.back().kind == "cpu" && at < supported.size() && supported[at] != 0;
    };
    // Where a program kept nothing in the host's plain memory, that is not among the recorded, and a change may begin to use it.
    const auto is_host_memory = [&](const std::string& memory) {
        const auto type = types.find(memory);
        const BackendInfo& last = session.backends.back();
        return type != types.end() ? type->second->is_host : last.kind == "cpu" && memory == last.name;
    };
    const auto lies_at = [&](const std::string& memory) {
        const auto type = types.find(memory);
        const bool is_host = is_host_memory(memory);
        const auto at = std::find_if(session.backends.begin(), session.backends.end(),
                                     [&](const BackendInfo& b) { return !is_host && own_type(b) == memory; });
        const bool is_the_hosts = is_host || (type != types.end() ? laid_out(*type->second) : memory == laid_out_memory);
        return at == session.backends.end() ? session.backends.end() - (is_the_hosts ? 1 : 0) : at;
    };
    const auto figure = [](const PlanFigures& figures, std::string_view what, std::string_view memory) {
        const auto found = figures.memory.find(joined({what, memory}));
        return found == figures.memory.end() ? 0 : found->second;
    };
    std::vector<MemoryFit> fits(session.backends.size());
    std::vector<int64_t> most_kept(fits.size(), 0); // without weights in the host's memory
    for (const auto& [figures, sum] : {std::pair{&plan.recorded, &MemoryFit::recorded}, {&plan.now, &MemoryFit::now}}) {
        std::vector<int64_t> kept(fits.size(), 0);
        for (const auto& [memory, bytes] : figures->by_buffer_type) {
            const bool is_host = is_host_memory(memory);
            if (const auto at = lies_at(memory); at != session.backends.end()) {
                MemoryFit& fit = fits[at - session.backends.begin()];
                fit.*sum += bytes;
                kept[at - session.backends.begin()] += bytes - (is_host ? figure(*figures, weights_in, memory) : 0);
                fit.is_about = fit.is_about || (plan.now.about && figure(plan.recorded, compute_buffer, memory) !=
                                                                      figure(plan.now, compute_buffer, memory));
            }
        }
        std::transform(kept.begin(), kept.end(), most_kept.begin(), most_kept.begin(),
                       [](int64_t a, int64_t b) { return std::max(a, b); });
    }
    for (size_t b = 0; b < fits.size(); ++b) { // a plan that stays as it was recorded may still have something on a removed one
        fits[b].backend = session.backends[b].name;
        fits[b].memory = session.backends[b].memory_bytes.value_or(0);
        fits[b].is_removed =
            fits[b].now == 0 && std::find(plan.removed.begin(), plan.removed.end(), fits[b].backend) != plan.removed.end();
        const bool is_host =
            session.backends[b].default_buffer_type && session.buffer_types[*session.backends[b].default_buffer_type].is_host;
        fits[b].paged = is_host && fits[b].fits(most_kept[b]);
    }
    for (const AddedDevice& device : plan.added) { // the host stays the last
        const auto found = plan.now.by_buffer_type.find(device.buffer_type);
        fits.insert(fits.end() - 1, MemoryFit{.backend = device.name,
                                              .now = found == plan.now.by_buffer_type.end() ? 0 : found->second,
                                              .memory = device.memory,
                                              .is_about = plan.now.about,
                                              .is_added = true});
    }
    std::erase_if(fits, [](const MemoryFit& fit) { return fit.recorded == 0 && fit.now == 0; });
    return fits;
}

std::vector<TensorChange> changes_of(const PlanText& recorded, const PlanText& now) {
    const std::vector<TensorWay> before = ways_of(recorded), after = ways_of(now);
    const std::vector<TensorId> match = align_by_name(recorded.graph, now.graph);
    std::vector<uint8_t> matched(now.graph.tensors.size(), 0);
    std::vector<TensorChange> changes;
    const auto add = [&](const PlanText& text, TensorId tensor, TensorId id, bool is_node, const TensorWay* a,
                         const TensorWay* b) {
        TensorChange c;
        c.tensor = tensor;
        c.name = text.tensor(id);
        c.is_node = is_node;
        if (a != nullptr && !a->stops.empty()) {
            c.recorded_backend = a->stops.back().backend;
            c.recorded_cause = a->stops.back().cause;
        }
        if (b != nullptr && !b->stops.empty()) {
            c.now_backend = b->stops.back().backend;
            c.now_cause = b->stops.back().cause;
        }
        if (c.recorded_backend != c.now_backend || c.recorded_cause != c.now_cause) {
            c.pass = where_apart(a != nullptr ? *a : TensorWay{}, b != nullptr ? *b : TensorWay{});
            changes.push_back(std::move(c));
        }
    };
    for (const auto& [id, is_node] : in_order(recorded.graph)) {
        const TensorId other = match[id];
        if (other != no_tensor) {
            matched[other] = 1;
        }
        add(recorded, id, id, is_node, &before[id], other != no_tensor ? &after[other] : nullptr);
    }
    for (const auto& [id, is_node] : in_order(now.graph)) {
        if (matched[id] == 0) {
            add(now, no_tensor, id, is_node, nullptr, &after[id]);
        }
    }
    return changes;
}

} // namespace schedscope
