// What differs in what two verifications found: nodes whose error is beyond tolerance in one of them only, or that only one
// compared.

#include "traces/diff/diff_parts.h"
#include "traces/history/words/difference_words.h"

#include <map>

namespace schedscope::diff {

namespace {

/// A node's verdicts in an evaluation; one, unless something ran it again.
using Verdicts = std::map<TensorId, const record::Difference*>;

Verdicts verdicts_of(const PlanSide& side) {
    Verdicts of;
    for (const DifferenceState& d : side.state.differences) {
        of.insert_or_assign(d.difference.tensor, &d.difference);
    }
    return of;
}

DiffValue value(const PlanSide& side, const record::Difference* d) {
    if (d == nullptr) {
        return {};
    }
    return !d->compared ? "not compared: " + side.text(d->why)
           : d->beyond  ? std::string("beyond tolerance")
                        : std::string("within tolerance");
}

/// "NMSE 2e-09 → 0.5", as far as there are numbers.
std::string errors(const record::Difference& x, const record::Difference& y) {
    return x.compared && y.compared ? "NMSE " + words::rough(x.nmse) + " → " + words::rough(y.nmse) : "";
}

} // namespace

void compare_verdicts(const PlanPair& plans, Found& found) {
    const Verdicts of_a = verdicts_of(plans.a);
    Verdicts of_b = verdicts_of(plans.b);
    for (const auto& [id, x] : of_a) {
        const auto other = of_b.find(plans.in_b(id));
        const record::Difference* y = other == of_b.end() ? nullptr : other->second;
        found.compared();
        if (value(plans.a, x) != value(plans.b, y)) {
            TraceDifference& d = plans.add(found, What::verdict, id, plans.in_b(id), value(plans.a, x), value(plans.b, y));
            d.note = y == nullptr ? "" : errors(*x, *y);
        }
        if (y != nullptr) {
            of_b.erase(other);
        }
    }
    for (const auto& [id, y] : of_b) {
        found.compared();
        plans.add(found, What::verdict, plans.in_a(id), id, DiffValue{}, value(plans.b, y));
    }
}

} // namespace schedscope::diff
