// What differs between two plans' memory: buffers, why they were planned again, where tensors lie.

#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/memory.h"

#include <unordered_map>

namespace schedscope::diff {

namespace {

void compare_buffers(const std::vector<accounts::MemoryRow>& a, const std::vector<accounts::MemoryRow>& b, Found& found) {
    std::map<std::string, std::pair<const accounts::MemoryRow*, const accounts::MemoryRow*>> rows;
    for (const accounts::MemoryRow& row : a) {
        rows[row.buffer_type].first = &row;
    }
    for (const accounts::MemoryRow& row : b) {
        rows[row.buffer_type].second = &row;
    }
    for (const auto& [name, row] : rows) {
        const auto compare = [&](What what, int64_t accounts::MemoryRow::*member) {
            const DiffValue x = row.first == nullptr ? DiffValue{} : DiffValue{row.first->*member},
                            y = row.second == nullptr ? DiffValue{} : DiffValue{row.second->*member};
            found.compared();
            if (x != y) {
                found.add(what, name, x, y);
            }
        };
        compare(What::buffer, &accounts::MemoryRow::size);
        compare(What::peak, &accounts::MemoryRow::peak);
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

std::string place_text(const accounts::PlacementRow& row) {
    return row.buffer_type + (row.chunk == 0 ? "" : " chunk " + std::to_string(row.chunk)) + " at " + std::to_string(row.offset) +
           ", " + std::to_string(row.size) + " bytes";
}

void compare_placements(const PlanPair& plans, const std::vector<accounts::PlacementRow>& a,
                        const std::vector<accounts::PlacementRow>& b, Found& found) {
    std::unordered_map<TensorId, const accounts::PlacementRow*> of_b;
    for (const accounts::PlacementRow& row : b) {
        of_b.emplace(row.id, &row);
    }
    std::unordered_map<TensorId, TensorId> in_place_a, in_place_b;
    for (const auto& [side, in_place] : {std::pair{&plans.a, &in_place_a}, std::pair{&plans.b, &in_place_b}}) {
        for (const record::Placement& p : side->state.placements) {
            (*in_place)[p.tensor] = p.in_place_of;
        }
    }
    const auto add = [&](const accounts::PlacementRow* x, TensorId id_a, const accounts::PlacementRow* y,
                         TensorId id_b) -> TraceDifference& {
        TraceDifference& d = plans.add(found, What::placement, id_a, id_b, x == nullptr ? DiffValue{} : DiffValue{place_text(*x)},
                                       y == nullptr ? DiffValue{} : DiffValue{place_text(*y)});
        for (const auto& [row, suffix] : {std::pair{x, "_a"}, std::pair{y, "_b"}}) {
            if (row != nullptr) {
                d.more.insert(d.more.end(), {{std::string("buffer") + suffix, row->buffer_type},
                                             {std::string("chunk") + suffix, int64_t{row->chunk}},
                                             {std::string("offset") + suffix, row->offset},
                                             {std::string("size") + suffix, row->size},
                                             {std::string("in_place_of") + suffix,
                                              row->in_place_of ? DiffValue{*row->in_place_of} : DiffValue{}}});
            }
        }
        return d;
    };
    for (const accounts::PlacementRow& x : a) {
        const TensorId id = plans.in_b(x.id);
        if (id == no_tensor) {
            continue; // that it is not there is said elsewhere
        }
        found.compared();
        const auto other = of_b.find(id);
        if (other == of_b.end()) {
            add(&x, x.id, nullptr, id);
            continue;
        }
        const accounts::PlacementRow& y = *other->second;
        const TensorId in_place_of_a = in_place_a[x.id], in_place_of_b = in_place_b[id];
        if (place_text(x) != place_text(y) || !plans.same(in_place_of_a, in_place_of_b)) {
            TraceDifference& d = add(&x, x.id, &y, id);
            if (!plans.same(in_place_of_a, in_place_of_b)) {
                d.note = "in place of " + x.in_place_of.value_or("none") + " → " + y.in_place_of.value_or("none");
            }
        }
        of_b.erase(other);
    }
    for (const accounts::PlacementRow& y : b) {
        if (const TensorId id = plans.in_a(y.id); id != no_tensor && of_b.contains(y.id)) {
            found.compared();
            add(nullptr, id, &y, y.id);
        }
    }
}

} // namespace

void compare_memory(const PlanPair& plans, Found& found) {
    const accounts::MemoryAccount a = accounts::memory(plans.a.history, plans.a.state),
                                  b = accounts::memory(plans.b.history, plans.b.state);
    compare_buffers(a.memory, b.memory, found);
    compare_replans(plans, found);
    compare_placements(plans, a.tensors, b.tensors, found);
}

} // namespace schedscope::diff
