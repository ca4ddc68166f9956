// What differs between two plans: assignments, splits and their inputs, copies.

#include "runtime/system/joined.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace schedscope::diff {

namespace {

DiffValue name_or_nothing(const PlanSide& side, TensorId id) { return id == no_tensor ? DiffValue{} : DiffValue{side.name(id)}; }

template <typename T> DiffValue number_or_nothing(const std::optional<T>& n) {
    return n ? DiffValue{static_cast<int64_t>(*n)} : DiffValue{};
}

std::string cause_of(const TensorState& t) { return t.cause == Cause::none ? "no rule" : cause_text(t.cause, t.source); }
std::string pass_of(const TensorState& t) { return t.pass == Pass::none ? "none" : std::string(pass_name(t.pass)); }

std::optional<std::string> backend_of(const PlanSide& side, const std::optional<BackendId>& id) {
    return id ? std::optional(side.backend(*id)) : std::nullopt;
}

bool differ(const PlanPair& plans, const SplitState& a, const SplitState& b) {
    return differ_as_known(backend_of(plans.a, a.begin.backend), backend_of(plans.b, b.begin.backend)) ||
           differ_as_known(a.begin.why, b.begin.why) || (a.begin.by && b.begin.by && !plans.same(*a.begin.by, *b.begin.by));
}

std::string split_text(const PlanSide& side, const SplitState& split) {
    return side.backend(split.backend()) + ", " + std::string(reason_text(split.begin.why));
}

void tell_split(TraceDifference& d, const PlanSide& side, const SplitState& split, const std::string& suffix) {
    const std::optional<SplitReason> why = split.begin.why;
    const auto of_nodes = [&](int64_t n) { return split.begin.first_node ? DiffValue{n} : DiffValue{}; };
    std::vector<std::string> inputs;
    for (const record::SplitInput& input : split.inputs) {
        inputs.push_back(side.name(input.tensor));
    }
    d.more.insert(d.more.end(), {{"index" + suffix, int64_t{split.begin.index}},
                                 {"first_node" + suffix, of_nodes(split.first_node())},
                                 {"last_node" + suffix, of_nodes(split.end_node - 1)},
                                 {"backend" + suffix, side.backend(split.backend())},
                                 {"why" + suffix, why ? DiffValue{std::string(reason_text(why))} : DiffValue{}},
                                 {"by" + suffix, name_or_nothing(side, or_none(split.begin.by))},
                                 {"inputs" + suffix, split.n_inputs() ? DiffValue{std::move(inputs)} : DiffValue{}}});
}

/// The most bytes that a copy may have.
int64_t most_bytes(const PlanSide& side, const record::CopyMade& copy) {
    return side.rounds_down(copy.of) ? accounts::most_logged_as(accounts::logged_size(*copy.bytes)) : *copy.bytes;
}

bool bytes_differ(const PlanPair& plans, const record::CopyMade& a, const record::CopyMade& b) {
    return a.bytes && b.bytes && (*a.bytes > most_bytes(plans.b, b) || *b.bytes > most_bytes(plans.a, a));
}

std::string bytes_text(const PlanSide& side, const record::CopyMade& copy) {
    return copy.bytes ? words::bytes(SizeSum{*copy.bytes, !side.rounds_down(copy.of)}) : unknown_text;
}

/// Splits are the same where the nodes are that they begin with; where those are not known, the number counts.
TensorId key_of(const SplitState& split, TensorId start) {
    return split.begin.first_node ? start : no_tensor - 1 - split.begin.index;
}

/// The inputs of the splits that both plans have. One that is not there in the other, and is in another split for the same
/// backend, is told with both splits; those of a split that only one has are else told with it.
class InputComparison {
public:
    InputComparison(const PlanPair& plans, Found& found)
        : plans_(plans), found_(found), all_of_a_(all_of(plans.a)), all_of_b_(all_of(plans.b)) {}

    void compare(const SplitState& a, const SplitState& b) {
        if (!a.knows_all_inputs() || !b.knows_all_inputs()) {
            return;
        }
        std::unordered_map<TensorId, const record::SplitInput*> of_b;
        for (const record::SplitInput& input : b.inputs) {
            of_b.emplace(input.tensor, &input);
        }
        for (const record::SplitInput& input : a.inputs) {
            const auto other = of_b.find(plans_.in_b(input.tensor));
            found_.compared();
            if (other == of_b.end()) {
                only_in_a_.push_back({{&a, &input}, {&b, nullptr}});
                continue;
            }
            if (differ_as_known(backend_of(plans_.a, input.from), backend_of(plans_.b, other->second->from))) {
                add({&a, &input}, {&b, other->second});
            }
            of_b.erase(other);
        }
        for (const record::SplitInput& input : b.inputs) {
            if (of_b.contains(input.tensor)) {
                found_.compared();
                only_in_b_.push_back({{&a, nullptr}, {&b, &input}});
            }
        }
    }

    /// When all splits were compared: what is missing in one may have been found in another.
    void finish() {
        for (const auto& [x, partner] : only_in_a_) {
            const auto y = all_of_b_.find({plans_.in_b(x.input->tensor), plans_.a.backend(x.split->backend())});
            if (y == all_of_b_.end()) {
                add(x, partner);
                continue;
            }
            std::erase_if(only_in_b_, [&](const Both& told) { return told.second.input == y->second.input; });
            add(x, y->second);
        }
        for (const auto& [partner, y] : only_in_b_) {
            const auto x = all_of_a_.find({plans_.in_a(y.input->tensor), plans_.b.backend(y.split->backend())});
            add(x == all_of_a_.end() ? partner : x->second, y);
        }
    }

private:
    struct InputAt {
        const SplitState* split = nullptr;
        const record::SplitInput* input = nullptr; ///< null: the split does not have it
    };
    using Both = std::pair<InputAt, InputAt>;
    using InputsByTensor = std::map<std::pair<TensorId, std::string>, InputAt>; ///< and the backend of the split

    static InputsByTensor all_of(const PlanSide& side) {
        InputsByTensor all;
        for (const SplitState& split : side.state.splits) {
            for (const record::SplitInput& input : split.inputs) {
                all.try_emplace({input.tensor, side.backend(split.backend())}, InputAt{&split, &input});
            }
        }
        return all;
    }

    static std::string where(const PlanSide& side, const SplitState& split) {
        const TensorId start = side.start_of(split);
        return start == no_tensor ? "of split " + std::to_string(split.begin.index)
                                  : "of the split that begins at " + side.name(start);
    }
    static DiffValue value(const PlanSide& side, const InputAt& at) {
        return at.input == nullptr ? DiffValue{} : DiffValue{"from " + side.backend(or_none(at.input->from))};
    }

    void add(const InputAt& x, const InputAt& y) {
        TraceDifference& d = plans_.add(found_, What::input, x.input == nullptr ? no_tensor : x.input->tensor,
                                        y.input == nullptr ? no_tensor : y.input->tensor, value(plans_.a, x), value(plans_.b, y));
        const std::string in_a = where(plans_.a, *x.split), in_b = where(plans_.b, *y.split);
        const bool moved =
            x.input != nullptr && y.input != nullptr &&
            key_of(*y.split, plans_.b.start_of(*y.split)) != key_of(*x.split, plans_.in_b(plans_.a.start_of(*x.split)));
        d.note = moved ? joined({in_a, " in a, ", in_b, " in b"}) : in_a;
        const auto bytes = [](const InputAt& at) {
            return at.input == nullptr ? DiffValue{} : number_or_nothing(at.input->bytes);
        };
        d.more = {{"split_a", int64_t{x.split->begin.index}},
                  {"split_b", int64_t{y.split->begin.index}},
                  {"bytes_a", bytes(x)},
                  {"bytes_b", bytes(y)}};
    }

    const PlanPair& plans_;
    Found& found_;
    const InputsByTensor all_of_a_, all_of_b_;
    std::vector<Both> only_in_a_, only_in_b_; ///< of splits that both have: the side that lacks it has the split alone
};

} // namespace

void compare_assignments(const PlanPair& plans, Found& found) {
    const bool passes_known = plans.a.history.knows(Topic::passes) && plans.b.history.knows(Topic::passes);
    for (const auto& [x, y] : plans.common()) {
        const TensorState a = plans.a.assigned(x), b = plans.b.assigned(y);
        if (!plans.a.knows_where(a) || !plans.b.knows_where(b)) {
            continue;
        }
        found.compared();
        const std::string backend_a = plans.a.backend(a.backend), backend_b = plans.b.backend(b.backend);
        const std::string cause_a = cause_of(a), cause_b = cause_of(b), pass_a = pass_of(a), pass_b = pass_of(b);
        TraceDifference* d = nullptr;
        if (backend_a != backend_b) {
            d = &plans.add(found, What::assignment, x, y, backend_a, backend_b);
            d->note = "by " + cause_a + (cause_a == cause_b ? "" : " → " + cause_b);
        } else if (a.cause && b.cause && cause_a != cause_b) {
            d = &plans.add(found, What::cause, x, y, cause_a, cause_b);
            d->note = "on " + backend_a;
        } else if (passes_known && pass_a != pass_b) {
            d = &plans.add(found, What::pass, x, y, pass_a, pass_b);
            d->note = joined({"on ", backend_a, " by ", cause_a});
        }
        if (d != nullptr) {
            d->more = {{"backend_a", backend_a},
                       {"backend_b", backend_b},
                       {"cause_a", cause_a},
                       {"cause_b", cause_b},
                       {"pass_a", pass_a},
                       {"pass_b", pass_b},
                       {"by_a", name_or_nothing(plans.a, a.by)},
                       {"by_b", name_or_nothing(plans.b, b.by)}};
        }
    }
}

void compare_splits(const PlanPair& plans, Found& found) {
    std::unordered_map<TensorId, const SplitState*> of_b;
    for (const SplitState& split : plans.b.state.splits) {
        of_b.emplace(key_of(split, plans.b.start_of(split)), &split);
    }
    const auto add = [&](const SplitState* x, const SplitState* y) {
        const TensorId start_a = x == nullptr ? no_tensor : plans.a.start_of(*x),
                       start_b = y == nullptr ? no_tensor : plans.b.start_of(*y);
        TraceDifference& d =
            plans.add(found, What::split, start_a, start_b, x == nullptr ? DiffValue{} : DiffValue{split_text(plans.a, *x)},
                      y == nullptr ? DiffValue{} : DiffValue{split_text(plans.b, *y)});
        if (x != nullptr) {
            tell_split(d, plans.a, *x, "_a");
        }
        if (y != nullptr) {
            tell_split(d, plans.b, *y, "_b");
        }
        if (x != nullptr && y != nullptr && !plans.same(or_none(x->begin.by), or_none(y->begin.by))) {
            d.note = "because of " + plans.a.name(or_none(x->begin.by)) + " → " + plans.b.name(or_none(y->begin.by));
        }
    };
    InputComparison inputs(plans, found);
    for (const SplitState& a : plans.a.state.splits) {
        found.compared();
        const auto other = of_b.find(key_of(a, plans.in_b(plans.a.start_of(a))));
        if (other == of_b.end()) {
            add(&a, nullptr);
            continue;
        }
        const SplitState& b = *other->second;
        of_b.erase(other);
        if (differ(plans, a, b)) {
            add(&a, &b);
        }
        inputs.compare(a, b);
    }
    for (const SplitState& b : plans.b.state.splits) {
        if (of_b.contains(key_of(b, plans.b.start_of(b)))) {
            found.compared();
            add(nullptr, &b);
        }
    }
    inputs.finish();
}

void compare_splits_in_order(const PlanPair& plans, Found& found) {
    const std::vector<SplitState>&a = plans.a.state.splits, &b = plans.b.state.splits;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        found.compared();
        if (i >= a.size() || i >= b.size() || differ(plans, a[i], b[i])) {
            found.add(What::split, "split " + std::to_string(i),
                      i < a.size() ? DiffValue{split_text(plans.a, a[i])} : DiffValue{},
                      i < b.size() ? DiffValue{split_text(plans.b, b[i])} : DiffValue{});
        }
    }
}

void compare_copies(const PlanPair& plans, Found& found) {
    const auto origin = [](const PlanSide& side, const record::CopyMade& copy) {
        return side.backend(accounts::origin_of(side.state, copy));
    };
    const auto value = [&](const PlanSide& side, const record::CopyMade* copy) {
        return copy == nullptr ? DiffValue{}
                               : DiffValue{origin(side, *copy) + " to " + side.backend(copy->backend) +
                                           (copy->stage.value_or(0) == 0 ? "" : ", stage " + std::to_string(*copy->stage))};
    };
    const auto add = [&](const record::CopyMade* x, const record::CopyMade* y) {
        const auto of = [](const record::CopyMade* copy) { return copy == nullptr ? no_tensor : copy->of; };
        TraceDifference& d = plans.add(found, What::copy, of(x), of(y), value(plans.a, x), value(plans.b, y));
        for (const auto& [side, copy, suffix] : {std::tuple{&plans.a, x, "_a"}, std::tuple{&plans.b, y, "_b"}}) {
            if (copy != nullptr) {
                d.more.insert(d.more.end(), {{std::string("from") + suffix, origin(*side, *copy)},
                                             {std::string("to") + suffix, side->backend(copy->backend)},
                                             {std::string("stage") + suffix, number_or_nothing(copy->stage)},
                                             {std::string("bytes") + suffix, number_or_nothing(copy->bytes)}});
            }
        }
        if (x != nullptr && y != nullptr && (x->bytes.has_value() != y->bytes.has_value() || bytes_differ(plans, *x, *y))) {
            d.note = "of " + bytes_text(plans.a, *x) + " → " + bytes_text(plans.b, *y);
        }
    };
    std::unordered_map<TensorId, const record::CopyMade*> of_b;
    for (const record::CopyMade& copy : plans.b.state.copies) {
        of_b.emplace(copy.copy, &copy);
    }
    for (const record::CopyMade& a : plans.a.state.copies) {
        found.compared();
        const auto other = of_b.find(plans.in_b(a.copy));
        if (other == of_b.end()) {
            add(&a, nullptr);
            continue;
        }
        const bool same_origin = plans.one_alone_knows(Topic::passes) || origin(plans.a, a) == origin(plans.b, *other->second);
        if (!same_origin || bytes_differ(plans, a, *other->second)) { // backend and stage are what they are paired by
            add(&a, other->second);
        }
        of_b.erase(other);
    }
    for (const record::CopyMade& b : plans.b.state.copies) {
        if (of_b.contains(b.copy)) {
            found.compared();
            add(nullptr, &b);
        }
    }
}

} // namespace schedscope::diff
