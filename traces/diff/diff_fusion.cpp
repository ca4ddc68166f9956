// What differs between two plans in what the backends made of them: fused groups, the order in which nodes run.

#include "traces/diff/diff_parts.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::diff {

namespace {

std::vector<TensorId> nodes_of(const PlanSide& side, const record::Fusion& f) {
    const std::vector<TensorId>& order = side.state.order;
    const size_t first = std::min(static_cast<size_t>(std::max(f.first, 0)), order.size());
    const size_t end = std::min(first + std::max(f.count, 0), order.size());
    return {order.begin() + first, order.begin() + end};
}

struct FusedNodes {
    const record::Fusion* fusion = nullptr;
    std::vector<TensorId> nodes; ///< never empty
};

std::vector<FusedNodes> groups_of(const PlanSide& side) {
    std::vector<FusedNodes> groups;
    for (const record::Fusion& f : side.state.fusions) {
        if (std::vector<TensorId> nodes = nodes_of(side, f); !nodes.empty()) {
            groups.push_back({&f, std::move(nodes)});
        }
    }
    return groups;
}

void compare_groups(const PlanPair& plans, Found& found) {
    const std::vector<FusedNodes> groups_a = groups_of(plans.a), groups_b = groups_of(plans.b);
    std::unordered_map<TensorId, const FusedNodes*> of_b; // by first node
    for (const FusedNodes& group : groups_b) {
        of_b.emplace(group.nodes.front(), &group);
    }
    const auto add = [&](const FusedNodes* x, const FusedNodes* y) {
        const auto value = [](const PlanSide& side, const FusedNodes* group) {
            return group == nullptr ? DiffValue{}
                                    : DiffValue{side.text(group->fusion->kernel) + " on " + side.backend(group->fusion->backend) +
                                                " (" + std::to_string(group->nodes.size()) + " nodes)"};
        };
        const auto first = [](const FusedNodes* group) { return group == nullptr ? no_tensor : group->nodes.front(); };
        TraceDifference& d = plans.add(found, What::fusion, first(x), first(y), value(plans.a, x), value(plans.b, y));
        for (const auto& [side, group, suffix] : {std::tuple{&plans.a, x, "_a"}, std::tuple{&plans.b, y, "_b"}}) {
            if (group == nullptr) {
                continue;
            }
            std::vector<std::string> names;
            for (const TensorId id : group->nodes) {
                names.push_back(side->name(id));
            }
            d.more.insert(d.more.end(), {{std::string("kernel") + suffix, side->text(group->fusion->kernel)},
                                         {std::string("backend") + suffix, side->backend(group->fusion->backend)},
                                         {std::string("nodes") + suffix, std::move(names)}});
        }
    };
    const auto equal = [&](const FusedNodes& x, const FusedNodes& y) {
        return plans.a.text(x.fusion->kernel) == plans.b.text(y.fusion->kernel) &&
               plans.a.backend(x.fusion->backend) == plans.b.backend(y.fusion->backend) &&
               std::equal(x.nodes.begin(), x.nodes.end(), y.nodes.begin(), y.nodes.end(),
                          [&](TensorId a, TensorId b) { return plans.same(a, b); });
    };
    for (const FusedNodes& x : groups_a) {
        found.compared();
        const auto other = of_b.find(plans.in_b(x.nodes.front()));
        const FusedNodes* y = other == of_b.end() ? nullptr : other->second;
        if (y == nullptr || !equal(x, *y)) {
            add(&x, y);
        }
        if (y != nullptr) {
            of_b.erase(other);
        }
    }
    for (const FusedNodes& y : groups_b) {
        if (of_b.contains(y.nodes.front())) {
            found.compared();
            add(nullptr, &y);
        }
    }
}

/// Pairs of nodes that a backend might have fused and did not. Of one pair there may be several reasons; they are told apart by
/// their order.
void compare_not_fused(const PlanPair& plans, Found& found) {
    using NotFusedKey = std::tuple<TensorId, TensorId, int>;
    const auto key_of = [](std::map<std::pair<TensorId, TensorId>, int>& seen, TensorId first, TensorId second) {
        return NotFusedKey{first, second, seen[{first, second}]++};
    };
    const auto value = [](const PlanSide& side, const record::NotFused* f) {
        return f == nullptr ? DiffValue{} : DiffValue{"on " + side.backend(f->backend) + ": " + side.text(f->why)};
    };
    const auto add = [&](const record::NotFused* x, const record::NotFused* y) {
        TraceDifference& d = plans.add(found, What::not_fused, x == nullptr ? no_tensor : x->first,
                                       y == nullptr ? no_tensor : y->first, value(plans.a, x), value(plans.b, y));
        d.more = {{"with", x != nullptr ? plans.a.name(x->second) : plans.b.name(y->second)}};
    };
    std::map<std::pair<TensorId, TensorId>, int> seen_a, seen_b; // by b's ids; of tensors that b has not, by none
    std::map<NotFusedKey, const record::NotFused*> of_b;
    for (const record::NotFused& f : plans.b.state.not_fused) {
        of_b.emplace(key_of(seen_b, f.first, f.second), &f);
    }
    for (const record::NotFused& x : plans.a.state.not_fused) {
        found.compared();
        const auto other = of_b.find(key_of(seen_a, plans.in_b(x.first), plans.in_b(x.second)));
        const record::NotFused* y = other == of_b.end() ? nullptr : other->second;
        if (value(plans.a, &x) != value(plans.b, y)) {
            add(&x, y);
        }
        if (y != nullptr) {
            of_b.erase(other);
        }
    }
    for (const auto& [key, y] : of_b) {
        found.compared();
        add(nullptr, y);
    }
}

/// Which places belong to a longest rising sequence: the nodes there kept their order, the others moved.
std::vector<bool> longest_rising(const std::vector<int32_t>& places) {
    std::vector<size_t> ends; // ends[n]: where the rising sequence of n + 1 places with the least end has it
    std::vector<size_t> before(places.size(), SIZE_MAX); // in the sequence that ends here
    for (size_t i = 0; i < places.size(); ++i) {
        const auto at =
            std::lower_bound(ends.begin(), ends.end(), places[i], [&](size_t end, int32_t place) { return places[end] < place; });
        before[i] = at == ends.begin() ? SIZE_MAX : *(at - 1);
        if (at == ends.end()) {
            ends.push_back(i);
        } else {
            *at = i;
        }
    }
    std::vector<bool> rising(places.size(), false);
    for (size_t i = ends.empty() ? SIZE_MAX : ends.back(); i != SIZE_MAX; i = before[i]) {
        rising[i] = true;
    }
    return rising;
}

} // namespace

void compare_fusion(const PlanPair& plans, Found& found) {
    if (plans.one_alone_knows(Topic::fusion)) {
        return;
    }
    compare_groups(plans, found);
    compare_not_fused(plans, found);
}

void compare_order(const PlanPair& plans, Found& found) {
    if (plans.one_alone_knows(Topic::order)) {
        return;
    }
    std::unordered_map<TensorId, int32_t> place_in_b; // among the nodes that both run
    for (const TensorId id : plans.b.state.order) {
        if (plans.in_a(id) != no_tensor) {
            place_in_b.emplace(id, n_of(place_in_b));
        }
    }
    std::vector<TensorId> nodes;
    std::vector<int32_t> places;
    for (const TensorId id : plans.a.state.order) {
        if (const auto place = place_in_b.find(plans.in_b(id)); place != place_in_b.end()) {
            nodes.push_back(id);
            places.push_back(place->second);
        }
    }
    found.compared(nodes.size());
    const std::vector<bool> kept = longest_rising(places);
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!kept[i]) {
            TraceDifference& d =
                plans.add(found, What::reorder, nodes[i], plans.in_b(nodes[i]), static_cast<int64_t>(i), int64_t{places[i]});
            const int64_t by = places[i] - static_cast<int64_t>(i);
            d.note = by == 0 ? "others moved past it" : by < 0 ? std::to_string(-by) + " earlier" : std::to_string(by) + " later";
        }
    }
}

} // namespace schedscope::diff
