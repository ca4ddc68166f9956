// Which evaluation of one trace is which of another.

#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "traces/diff/diff.h"
#include "traces/format/row_hash.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

namespace schedscope::diff {

namespace {

/// What is not known of one may be anything.
template <typename T> bool may_be_same(const std::optional<T>& a, const std::optional<T>& b) noexcept {
    return !a || !b || a == b;
}

/// What a plan computes, as far as its trace shows it: a log of level 1 has splits alone.
struct PlanContents {
    std::optional<uint64_t> operators;               ///< of its nodes; nothing: they are not known
    std::map<std::string, int64_t> n_of_operators{}; ///< how many of each
    int32_t n_splits = 0, n_inputs = 0;

    bool is_cut_alike(const PlanContents& other) const noexcept {
        return n_splits == other.n_splits && n_inputs == other.n_inputs;
    }
    bool same(const PlanContents& other) const noexcept {
        return operators && other.operators ? operators == other.operators : n_splits == other.n_splits;
    }
    /// How much of one is in the other: from 0 to 1.
    double likeness(const PlanContents& other) const {
        if (!operators || !other.operators) {
            return same(other) ? 1 : 0;
        }
        int64_t common = 0, all = 0;
        for (const auto& [name, n] : n_of_operators) {
            const auto there = other.n_of_operators.find(name);
            common += there == other.n_of_operators.end() ? 0 : std::min(n, there->second);
            all += n;
        }
        int64_t all_there = 0;
        for (const auto& [name, n] : other.n_of_operators) {
            all_there += n;
        }
        return to_double(common) / to_double(std::max({all, all_there, int64_t{1}}));
    }
};

struct Evaluation {
    EvaluationId id = 0;
    std::optional<GraphKind> kind;
    std::optional<int32_t> n_tokens, n_sequences, n_outputs;
    EvaluationId planned_in = 0;
    PlanContents contents = {}; ///< of its plan, once asked for

    bool is_planned() const noexcept { return planned_in == id; }
    bool same_shape(const Evaluation& other) const noexcept {
        return may_be_same(n_tokens, other.n_tokens) && may_be_same(n_sequences, other.n_sequences) &&
               may_be_same(n_outputs, other.n_outputs);
    }
};
using Evaluations = std::vector<Evaluation>;

Evaluations evaluations_of(const RecordSource& source) {
    Evaluations all;
    for (EvaluationId id = 0; id < source.n_evaluations(); ++id) {
        const record::EvaluationBegin begin = source.evaluation(id).begin;
        all.push_back({id, begin.kind, begin.n_tokens, begin.n_sequences, begin.n_outputs, begin.planned_in});
    }
    return all;
}

/// The operators that a graph computes, and a number for their order. Views are left out: logs do not show them.
PlanContents contents_of(const OwnedGraph& graph) {
    PlanContents contents;
    uint64_t hash = 0;
    for (const TensorId node : graph.nodes) {
        const TensorInfo& t = graph.tensors[node];
        if (t.op && !is_view_op(*t.op)) {
            hash = mixed((hash ^ std::hash<std::string_view>()(op_name(t))) + 1) + 1;
            ++contents.n_of_operators[std::string(op_name(t))];
        }
    }
    contents.operators = hash == 0 ? std::nullopt : std::optional(hash);
    return contents;
}

PlanContents contents_of(const RecordSource& source, EvaluationId id) {
    const EvaluationSpan span = source.evaluation(id);
    PlanContents contents;
    constexpr FactSet facts = fact_set<record::PlanBegin, record::SplitBegin, record::SplitInput>();
    source.for_each_of(facts, span.first, span.end, [&](const Record& r) {
        if (const auto* plan = std::get_if<record::PlanBegin>(&r.fact)) {
            contents = contents_of(source.graph(plan->graph));
        } else {
            ++(std::holds_alternative<record::SplitBegin>(r.fact) ? contents.n_splits : contents.n_inputs);
        }
    });
    return contents;
}

using Alike = std::function<bool(const Evaluation&, const Evaluation&)>;
using Places = std::vector<std::pair<size_t, size_t>>;

/// The longest list of places, rising in both, whose evaluations are alike; none where that would take too long to find.
Places longest_common(std::span<const Evaluation> a, std::span<const Evaluation> b, const Alike& alike) {
    constexpr size_t most = 4'000'000;
    if (a.empty() || b.empty() || a.size() > most / b.size()) {
        return {};
    }
    const size_t width = b.size() + 1;
    std::vector<int32_t> length((a.size() + 1) * width, 0); // of the best from here on
    for (size_t i = a.size(); i-- > 0;) {
        for (size_t j = b.size(); j-- > 0;) {
            length[i * width + j] = alike(a[i], b[j]) ? length[(i + 1) * width + j + 1] + 1
                                                      : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
        }
    }
    Places places;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (alike(a[i], b[j])) {
            places.emplace_back(i++, j++);
        } else {
            ++(length[(i + 1) * width + j] >= length[i * width + j + 1] ? i : j);
        }
    }
    return places;
}

class Pairing {
public:
    Pairing(const RecordSource& a, const RecordSource& b)
        : a_(a), b_(b), partner_of_a_(a.n_evaluations(), -1), taken_(b.n_evaluations(), false) {}

    std::vector<std::pair<EvaluationId, EvaluationId>> run() {
        Evaluations of_a = evaluations_of(a_), of_b = evaluations_of(b_);
        pair_unknown_kinds(of_a, of_b);
        std::map<std::optional<GraphKind>, std::pair<Evaluations, Evaluations>> kinds;
        for (const Evaluation& e : of_a) {
            if (partner_of_a_[e.id] < 0) {
                kinds[e.kind].first.push_back(e);
            }
        }
        for (const Evaluation& e : of_b) {
            if (!taken_[e.id]) {
                kinds[e.kind].second.push_back(e);
            }
        }
        for (const auto& [kind, lists] : kinds) {
            kind == GraphKind::reserve ? pair_reserves(lists.first, lists.second) : pair_kind(lists.first, lists.second);
        }
        return in_order(kinds);
    }

private:
    void pair(const Evaluation& x, const Evaluation& y) {
        partner_of_a_[x.id] = y.id;
        taken_[y.id] = true;
    }

    /// A log does not say what its graphs are for. Where one trace lacks that, or both do and one shows no more of a plan than
    /// its splits, its plans are those of the other that compute the same, in their order: those of as many splits and inputs
    /// first, as a prompt and a token may be planned as one graph and be split in other places.
    void pair_unknown_kinds(Evaluations& of_a, Evaluations& of_b) {
        const Evaluations a = plans_of(a_, of_a), b = plans_of(b_, of_b);
        const auto lacks_kind = [](const Evaluation& e) { return !e.kind; };
        const auto shows_splits_alone = [](const Evaluation& e) { return !e.kind && !e.contents.operators; };
        const auto any = [](const Evaluations& of, const auto& is) { return std::any_of(of.begin(), of.end(), is); };
        if (any(of_a, lacks_kind) == any(of_b, lacks_kind) && any(a, shows_splits_alone) == any(b, shows_splits_alone)) {
            return;
        }
        const bool a_says_reserve = has_reserves(a_), b_says_reserve = has_reserves(b_);
        const auto alike = [&](const Evaluation& x, const Evaluation& y) {
            if ((is_reserve(x) && (y.kind || b_says_reserve)) || (is_reserve(y) && (x.kind || a_says_reserve))) {
                return false; // these are paired among themselves
            }
            return may_be_same(x.kind, y.kind) && may_be_same(x.n_tokens, y.n_tokens) && x.contents.same(y.contents);
        };
        const auto all_alike = [&](const Evaluation& x, const Evaluation& y) {
            return alike(x, y) && x.contents.is_cut_alike(y.contents);
        };
        for (const auto& [i, j] : longest_common(a, b, all_alike)) {
            pair(a[i], b[j]);
        }
        const Evaluations rest_a = left_of(a, [&](const Evaluation&e) { return partner_of_a_[e.id] >= 0; }),
                          rest_b = left_of(b, [&](const Evaluation&e) { return bool{taken_[e.id]}; });
        for (const auto& [i, j] : longest_common(rest_a, rest_b, alike)) {
            pair(rest_a[i], rest_b[j]);
        }
    }

    template <typename IsPaired> static Evaluations left_of(Evaluations all, const IsPaired& is_paired) {
        std::erase_if(all, is_paired);
        return all;
    }

    static Evaluations plans_of(const RecordSource& source, const Evaluations& all) {
        Evaluations plans;
        for (Evaluation e : all) {
            if (e.is_planned()) {
                e.contents = contents_of(source, e.id);
                plans.push_back(e);
            }
        }
        return plans;
    }

    /// Those of the same shape from the beginning, those of the same shape from the end, of what is left in between the most that
    /// have the same shape in both orders, and what lies between these in its order.
    void pair_kind(const Evaluations& a, const Evaluations& b) {
        size_t first = 0, end_a = a.size(), end_b = b.size();
        for (; first < end_a && first < end_b && a[first].same_shape(b[first]); ++first) {
            pair(a[first], b[first]);
        }
        for (; end_a > first && end_b > first && a[end_a - 1].same_shape(b[end_b - 1]); --end_a, --end_b) {
            pair(a[end_a - 1], b[end_b - 1]);
        }
        const std::span<const Evaluation> rest_a = std::span(a).subspan(first, end_a - first),
                                          rest_b = std::span(b).subspan(first, end_b - first);
        Places places = longest_common(rest_a, rest_b, [](const Evaluation& x, const Evaluation& y) { return x.same_shape(y); });
        places.emplace_back(rest_a.size(), rest_b.size());
        size_t i = 0, j = 0;
        for (const auto& [x, y] : places) {
            for (; i < x && j < y; ++i, ++j) {
                pair(rest_a[i], rest_b[j]);
            }
            if (x < rest_a.size()) {
                pair(rest_a[x], rest_b[y]);
            }
            i = x + 1;
            j = y + 1;
        }
    }

    /// By what they reserve for: several contexts reserve for prompts and tokens in turn, and an encoder does, too. First those
    /// of the same extents that compute the same, then those of the same extents that compute most alike; then those that may be
    /// of the same extents, where a log lost them; then the largest prompts of each, where they compute the same: the two
    /// programs were to take other batches.
    void pair_reserves(Evaluations a, Evaluations b) {
        const int32_t largest_a = most_tokens(a), largest_b = most_tokens(b);
        for (auto [source, list] : {std::pair{&a_, &a}, {&b_, &b}}) {
            std::map<EvaluationId, PlanContents> known; // reserves may run the plan of one before
            for (Evaluation& e : *list) {
                const auto [at, is_new] = known.try_emplace(e.planned_in);
                if (is_new && e.planned_in >= 0 && e.planned_in < source->n_evaluations()) {
                    at->second = contents_of(*source, e.planned_in);
                }
                e.contents = at->second;
            }
        }
        pair_best(a, b, [](const Evaluation& x, const Evaluation& y) {
            return same_extents(x, y) && x.contents.same(y.contents) ? 1.0 : 0.0;
        });
        pair_best(a, b, [](const Evaluation& x, const Evaluation& y) {
            constexpr double least = 0.5;
            const double likeness = same_extents(x, y) ? x.contents.likeness(y.contents) : 0;
            return likeness < least ? 0 : likeness;
        });
        pair_best(a, b, [](const Evaluation& x, const Evaluation& y) {
            return x.same_shape(y) && x.contents.same(y.contents) && x.contents.is_cut_alike(y.contents) ? 1.0 : 0.0;
        });
        pair_best(a, b, [largest_a, largest_b](const Evaluation& x, const Evaluation& y) {
            const bool are_largest = x.n_tokens == largest_a && y.n_tokens == largest_b && largest_a > 1 && largest_b > 1;
            return are_largest && x.contents.operators && x.contents.same(y.contents) ? 1.0 : 0.0;
        });
    }

    static int32_t most_tokens(const Evaluations& all) {
        int32_t most = 0;
        for (const Evaluation& e : all) {
            most = std::max(most, e.n_tokens.value_or(0));
        }
        return most;
    }
    static bool is_reserve(const Evaluation& e) noexcept { return e.kind == GraphKind::reserve; }
    static bool same_extents(const Evaluation& x, const Evaluation& y) noexcept {
        return x.n_tokens == y.n_tokens && x.same_shape(y);
    }

    /// Pairs each of a with the one of b that fits it best, the first of several; 0: it does not fit. Those that are paired leave
    /// the lists.
    template <typename Fit> void pair_best(Evaluations& a, Evaluations& b, const Fit& fit) {
        std::erase_if(a, [&](const Evaluation& x) {
            auto best = b.end();
            double most = 0;
            for (auto y = b.begin(); y != b.end(); ++y) {
                if (const double fits = fit(x, *y); fits > most) {
                    best = y;
                    most = fits;
                }
            }
            if (best == b.end()) {
                return false;
            }
            pair(x, *best);
            b.erase(best);
            return true;
        });
    }

    /// Graphs that only reserved memory are evaluations in other programs' traces, and none in this program's: where one trace
    /// has none of them, the other's are left out.
    template <typename Kinds> std::vector<std::pair<EvaluationId, EvaluationId>> in_order(const Kinds& kinds) const {
        std::set<EvaluationId> skip_a, skip_b;
        if (const auto reserves = kinds.find(GraphKind::reserve); reserves != kinds.end()) {
            const auto& [a, b] = reserves->second;
            for (const Evaluation& e : b.empty() && !has_reserves(b_) ? a : Evaluations()) {
                skip_a.insert(e.id);
            }
            for (const Evaluation& e : a.empty() && !has_reserves(a_) ? b : Evaluations()) {
                skip_b.insert(e.id);
            }
        }
        std::vector<std::pair<EvaluationId, EvaluationId>> pairs;
        EvaluationId next_b = 0;
        const auto only_b_before = [&](EvaluationId end) {
            for (; next_b < end; ++next_b) {
                if (!taken_[next_b] && !skip_b.contains(next_b)) {
                    pairs.emplace_back(-1, next_b);
                }
            }
        };
        for (EvaluationId id = 0; id < n_of(partner_of_a_); ++id) {
            if (!skip_a.contains(id)) {
                only_b_before(partner_of_a_[id]);
                pairs.emplace_back(id, partner_of_a_[id]);
            }
        }
        only_b_before(b_.n_evaluations());
        return pairs;
    }

    static bool has_reserves(const RecordSource& source) {
        bool any = false;
        for (EvaluationId id = 0; id < source.n_evaluations() && !any; ++id) {
            any = source.evaluation(id).begin.kind == GraphKind::reserve;
        }
        return any;
    }

    const RecordSource &a_, &b_;
    std::vector<EvaluationId> partner_of_a_;
    std::vector<bool> taken_;
};

} // namespace

std::vector<std::pair<EvaluationId, EvaluationId>> pair_evaluations(const RecordSource& a, const RecordSource& b) {
    return Pairing(a, b).run();
}

} // namespace schedscope::diff
