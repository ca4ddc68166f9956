// What differs between two plans' memory: buffers, why they were planned again, where tensors lie.

#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/memory.h"

#include <tuple>
#include <unordered_map>

namespace schedscope::diff {

namespace {

/// A log's size is as good as each that it may have been rounded from. `renamed`: what b calls it, where it is other memory.
void compare_sizes(const std::string& name, const std::string& renamed, const accounts::MemoryRow* a,
                   const accounts::MemoryRow* b, Found& found) {
    const auto size = [](const accounts::MemoryRow* r) { return r == nullptr ? std::nullopt : Amount::of(r->size); };
    const auto value = [](const accounts::MemoryRow* r) { return r == nullptr ? DiffValue{} : DiffValue{r->size.bytes}; };
    found.compared();
    if (Measure{name, Measure::Unit::bytes, size(a), size(b)}.same()) {
        return;
    }
    TraceDifference& d = found.add(What::buffer, name, value(a), value(b));
    d.renamed = renamed;
    for (const auto& [row, more] : {std::pair{a, "rounding_a"}, {b, "rounding_b"}}) {
        if (row != nullptr && row->size.rounding > 0) {
            d.more.emplace_back(more, row->size.rounding);
        }
    }
}

/// As the summary has them beside each other: on the host, whatever memory each computes in there; that a tensor lies in another
/// is said of its place. Where a trace knows sizes alone, as that of a log: of the buffers that both have, in the same memory.
void compare_buffers(const PlanPair& plans, const std::vector<accounts::MemoryRow>& a, const std::vector<accounts::MemoryRow>& b,
                     Found& found) {
    std::map<std::string, std::pair<const accounts::MemoryRow*, const accounts::MemoryRow*>> rows;
    for (const accounts::MemoryRow& row : a) {
        rows[row.buffer_type].first = &row;
    }
    for (const accounts::MemoryRow& row : b) {
        rows[plans.b.devices.compute_memory(row.buffer_type)].second = &row;
    }
    for (const auto& named : rows) { // clang 14 lets no lambda capture a binding
        const auto& row = named.second;
        const std::string in_b = row.second == nullptr ? named.first : plans.b.devices.buffer_type(row.second->buffer_type);
        const std::string name = row.first == nullptr ? in_b : named.first;
        const std::string renamed = in_b == name ? "" : in_b;
        const bool sizes_alone = !plans.both_know(Topic::memory);
        const bool may_lack_some = plans.one_alone_knows(Topic::memory) || a.empty() || b.empty();
        if (sizes_alone && may_lack_some && (row.first == nullptr || row.second == nullptr || !renamed.empty())) {
            continue;
        }
        const auto is_known = [](const accounts::MemoryRow* r) { return r == nullptr || r->size.complete; };
        if (is_known(row.first) && is_known(row.second)) {
            compare_sizes(name, renamed, row.first, row.second, found);
        }
        if (sizes_alone) {
            continue;
        }
        const auto peak = [](const accounts::MemoryRow* r) { return r == nullptr ? DiffValue{} : DiffValue{r->peak}; };
        found.compared();
        if (const DiffValue x = peak(row.first), y = peak(row.second); x != y) {
            found.add(What::peak, name, x, y).renamed = renamed;
        }
    }
}

void compare_replans(const PlanPair& plans, Found& found) {
    const auto reasons = [](const PlanSide& side) {
        std::vector<std::string> list;
        for (const record::Reallocation& f : side.state.reallocations) {
            list.push_back(side.text(f.reason));
        }
        return list;
    };
    const std::vector<std::string> a = reasons(plans.a), b = reasons(plans.b);
    found.compared(std::max(a.size(), b.size()));
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const DiffValue x = i < a.size() ? DiffValue{a[i]} : DiffValue{}, y = i < b.size() ? DiffValue{b[i]} : DiffValue{};
        if (x != y) {
            found.add(What::replan, "memory", x, y);
        }
    }
}

std::string place_text(const PlanSide& side, const record::Placement& p) {
    return side.buffer_type(p.buffer_type) + (p.chunk == 0 ? "" : " chunk " + std::to_string(p.chunk)) + " at " +
           std::to_string(p.offset) + ", " + std::to_string(p.size) + " bytes";
}

DiffValue in_place_of(const PlanSide& side, const record::Placement& p) {
    return p.in_place_of == no_tensor ? DiffValue{} : DiffValue{side.history.tensor_name(side.state, p.in_place_of)};
}

void compare_placements(const PlanPair& plans, Found& found) {
    std::unordered_map<TensorId, const record::Placement*> of_b;
    for (const record::Placement& p : plans.b.state.placements) {
        of_b.emplace(p.tensor, &p);
    }
    const auto add = [&](const record::Placement* x, TensorId id_a, const record::Placement* y,
                         TensorId id_b) -> TraceDifference& {
        TraceDifference& d =
            plans.add(found, What::placement, id_a, id_b, x == nullptr ? DiffValue{} : DiffValue{place_text(plans.a, *x)},
                      y == nullptr ? DiffValue{} : DiffValue{place_text(plans.b, *y)});
        for (const auto& [side, p, suffix] : {std::tuple{&plans.a, x, "_a"}, std::tuple{&plans.b, y, "_b"}}) {
            if (p != nullptr) {
                d.more.insert(d.more.end(), {{std::string("buffer") + suffix, side->buffer_type(p->buffer_type)},
                                             {std::string("chunk") + suffix, int64_t{p->chunk}},
                                             {std::string("offset") + suffix, p->offset},
                                             {std::string("size") + suffix, p->size},
                                             {std::string("in_place_of") + suffix, in_place_of(*side, *p)}});
            }
        }
        return d;
    };
    for (const record::Placement& x : plans.a.state.placements) {
        const TensorId id = plans.in_b(x.tensor);
        if (id == no_tensor) {
            continue; // that it is not there is said elsewhere
        }
        found.compared();
        const auto other = of_b.find(id);
        if (other == of_b.end()) {
            add(&x, x.tensor, nullptr, id);
            continue;
        }
        const record::Placement& y = *other->second;
        const bool alike = plans.same(x.in_place_of, y.in_place_of);
        if (!alike || place_text(plans.a, x) != place_text(plans.b, y)) {
            TraceDifference& d = add(&x, x.tensor, &y, id);
            if (!alike) {
                const auto name = [](const PlanSide& side, TensorId parent) {
                    return parent == no_tensor ? "none" : side.history.tensor_name(side.state, parent);
                };
                d.note = "in place of " + name(plans.a, x.in_place_of) + " → " + name(plans.b, y.in_place_of);
            }
        }
        of_b.erase(other);
    }
    for (const record::Placement& y : plans.b.state.placements) {
        if (const TensorId id = plans.in_a(y.tensor); id != no_tensor && of_b.contains(y.tensor)) {
            found.compared();
            add(nullptr, id, &y, y.tensor);
        }
    }
}

} // namespace

void compare_memory(const PlanPair& plans, Found& found) {
    const accounts::MemoryAccount a = accounts::memory(plans.a.history, plans.a.state),
                                  b = accounts::memory(plans.b.history, plans.b.state);
    compare_buffers(plans, a.memory, b.memory, found);
    if (!plans.both_know(Topic::memory)) {
        return;
    }
    compare_replans(plans, found);
    compare_placements(plans, found);
}

} // namespace schedscope::diff
