#include "traces/diff/align.h"

#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "traces/diff/graph_shape.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

namespace schedscope {

namespace {

using Hashes = std::vector<uint64_t>;

/// One graph at one likeness.
struct Side {
    const GraphShape& shape;
    const Hashes& names;
    Hashes labels, above, below;

    Side(const GraphShape& shape, const Hashes& names, Likeness likeness)
        : shape(shape), names(names), labels(shape.labels(likeness)), above(shape.above(labels)), below(shape.below(labels)) {}
};

/// What tensors are compared by; a tensor that has none (false) takes no part.
struct LikenessKey {
    uint64_t first = 0, second = 0, third = 0;
    auto operator<=>(const LikenessKey&) const =
        default; // NOLINT(modernize-use-nullptr): clang-tidy 14 takes the comparison for one with a pointer
};
using KeyOf = std::function<bool(const Side&, TensorId, LikenessKey&)>;

enum class NameRule : uint8_t { same, any };

class Aligner {
public:
    Aligner(const GraphShape& a, const GraphShape& b) : a_(a), b_(b), names_a_(a.names()), names_b_(b.names()) {
        result_.in_b.assign(a.n_tensors(), no_tensor);
        result_.in_a.assign(b.n_tensors(), no_tensor);
    }

    Alignment run() {
        for (int level = 0; level < ordinal(Likeness::count) && !complete(); ++level) {
            align_at(static_cast<Likeness>(level));
        }
        if (!complete()) {
            align_named_leafs();
        }
        if (!complete()) {
            align_named_nodes();
        }
        return std::move(result_);
    }

private:
    using KeyedTensor = std::pair<LikenessKey, TensorId>;

    bool complete() const noexcept { return n_aligned_ == std::min(a_.n_tensors(), b_.n_tensors()); }

    void align_at(Likeness likeness) {
        const Side a(a_, names_a_, likeness), b(b_, names_b_, likeness);
        result_.work += a_.n_tensors() + b_.n_tensors();
        // What a leaf is computed from and what a result is used for says nothing: alone they are like many others.
        const KeyOf whole = [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.above[id], s.below[id], 0};
            return true;
        };
        const KeyOf whole_named = [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.above[id], s.below[id], s.names[id]};
            return true;
        };
        const auto only_nodes = [](const KeyOf& key_of) -> KeyOf {
            return
                [&key_of](const Side& s, TensorId id, LikenessKey& key) { return s.shape.has_sources(id) && key_of(s, id, key); };
        };
        by_key(a, b, only_nodes(whole_named));
        by_key(a, b, only_nodes(whole));
        spread_to_sources(a, b);
        by_key(a, b, whole_named);
        by_key(a, b, [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.above[id], s.names[id], 0};
            return s.names[id] != 0;
        });
        by_key(a, b, [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.below[id], s.names[id], 0};
            return s.names[id] != 0;
        });
        spread(a, b, NameRule::same);
        by_key(a, b, [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.above[id], 0, 0};
            return s.shape.has_sources(id);
        });
        by_key(a, b, [&](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.below[id], 0, 0};
            return s.shape.has_sources(id) && s.shape.n_uses(id) > 0;
        });
        spread(a, b, NameRule::any);
        by_key(a, b, whole);
    }

    /// What a leaf's memory is for is not known to every trace: one of the same name, type and extents is the same, and what is
    /// computed from it may be.
    void align_named_leafs() {
        const Hashes leafs_a = a_.named_leafs(), leafs_b = b_.named_leafs();
        constexpr Likeness likeness = Likeness::operator_only;
        const KeyOf named = [](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.names[id], 0, 0};
            return s.names[id] != 0;
        };
        by_key(Side(a_, leafs_a, likeness), Side(b_, leafs_b, likeness), named, Numbers::any); // a log shows two of a name as one
        spread(Side(a_, names_a_, likeness), Side(b_, names_b_, likeness), NameRule::same);
    }

    /// A log has no views, so that a node reads something else there than in a recording, and its inputs may have no names that
    /// say anything: of one name and operator it is the same all the same.
    void align_named_nodes() {
        const Side a(a_, names_a_, Likeness::operator_only), b(b_, names_b_, Likeness::operator_only);
        by_key(a, b, [](const Side& s, TensorId id, LikenessKey& key) {
            key = {s.labels[id], s.names[id], 0};
            return s.names[id] != 0 && s.shape.has_sources(id);
        });
    }

    enum class Numbers : uint8_t { equal, any };
    /// Tensors with one key are the same ones, in order, if both graphs have as many of them; of any numbers the first ones.
    void by_key(const Side& a, const Side& b, const KeyOf& key_of, Numbers numbers = Numbers::equal) {
        if (complete()) {
            return;
        }
        const auto entries = [&](const Side& side, const std::vector<TensorId>& aligned) {
            std::vector<KeyedTensor> list;
            LikenessKey key;
            for (TensorId id = 0; id < n_of(aligned); ++id) {
                ++result_.work;
                if (aligned[id] == no_tensor && key_of(side, id, key)) {
                    list.emplace_back(key, id);
                }
            }
            std::sort(list.begin(), list.end());
            return list;
        };
        pair_runs(entries(a, result_.in_b), entries(b, result_.in_a), [&](auto first_a, auto end_a, auto first_b, auto end_b) {
            if (numbers == Numbers::any || end_a - first_a == end_b - first_b) {
                for (; first_a != end_a && first_b != end_b; ++first_a, ++first_b) {
                    pair(first_a->second, first_b->second);
                }
            }
        });
    }

    /// Calls `f` for each run of equal keys that two sorted lists both have.
    template <typename Entries, typename F> static void pair_runs(const Entries& a, const Entries& b, F&& f) {
        const auto end_of_run = [](auto at, auto end) {
            return std::find_if(at, end, [at](const auto& entry) { return entry.first != at->first; });
        };
        for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
            const auto x_end = end_of_run(x, a.end()), y_end = end_of_run(y, b.end());
            if (x->first == y->first) {
                f(x, x_end, y, y_end);
            }
            const bool a_first = x->first <= y->first, b_first = y->first <= x->first;
            x = a_first ? x_end : x;
            y = b_first ? y_end : y;
        }
    }

    void pair(TensorId x, TensorId y) {
        result_.in_b[x] = y;
        result_.in_a[y] = x;
        ++n_aligned_;
        waiting_.push_back(x);
    }

    /// From each pair to its neighbours, until no more come.
    void spread(const Side& a, const Side& b, NameRule names) {
        names_ = names;
        waiting_.clear();
        for (size_t x = 0; x < result_.in_b.size(); ++x) {
            if (result_.in_b[x] != no_tensor) {
                waiting_.push_back(int_of(x));
            }
        }
        while (!waiting_.empty() && !complete()) {
            const TensorId x = waiting_.front(), y = result_.in_b[x];
            waiting_.pop_front();
            spread_to_sources(a, b, x, y);
            spread_to_users(a, b, x, y);
        }
    }

    /// From pairs that are the same above and below to what they are computed from.
    void spread_to_sources(const Side& a, const Side& b) {
        names_ = NameRule::any;
        for (size_t x = 0; x < result_.in_b.size(); ++x) {
            const TensorId y = result_.in_b[x];
            if (y != no_tensor && a.above[x] == b.above[y] && a.below[x] == b.below[y]) {
                spread_to_sources(a, b, int_of(x), y);
            }
        }
    }

    void spread_to_sources(const Side& a, const Side& b, TensorId x, TensorId y) {
        for (int slot = 0; slot < GraphShape::n_slots; ++slot) {
            ++result_.work;
            const TensorId p = a_.source(x, slot), q = b_.source(y, slot);
            if (p != no_tensor && q != no_tensor && free(p, q) && names_fit(p, q) && a.labels[p] == b.labels[q]) {
                pair_here(p, q);
            }
        }
    }

    /// Users in the same slot that are alike: the only one on both sides, else the only ones of a name.
    void spread_to_users(const Side& a, const Side& b, TensorId x, TensorId y) {
        const auto users = [&](const Side& side, TensorId of, const std::vector<TensorId>& aligned) {
            std::vector<KeyedTensor> list;
            for (const auto* use = side.shape.uses_begin(of); use != side.shape.uses_end(of); ++use) {
                ++result_.work;
                const size_t user = use->user;
                if (aligned[user] == no_tensor) {
                    list.push_back({{static_cast<uint64_t>(use->slot), side.labels[user], 0}, use->user});
                }
            }
            return list;
        };
        std::vector<KeyedTensor> in_a = users(a, x, result_.in_b), in_b = users(b, y, result_.in_a);
        const auto only_ones = [&](auto first_a, auto end_a, auto first_b, auto end_b) {
            if (end_a - first_a == 1 && end_b - first_b == 1 && free(first_a->second, first_b->second) &&
                names_fit(first_a->second, first_b->second)) {
                pair_here(first_a->second, first_b->second);
            }
        };
        if (in_a.empty() || in_b.empty()) {
            return;
        }
        std::sort(in_a.begin(), in_a.end());
        std::sort(in_b.begin(), in_b.end());
        pair_runs(in_a, in_b, only_ones);

        const auto name_them = [](std::vector<KeyedTensor>& list, const Side& side, const std::vector<TensorId>& aligned) {
            std::erase_if(list,
                          [&](const KeyedTensor& e) { return aligned[e.second] != no_tensor || side.names[e.second] == 0; });
            for (KeyedTensor& e : list) {
                e.first.third = side.names[e.second];
            }
            std::sort(list.begin(), list.end());
        };
        name_them(in_a, a, result_.in_b);
        name_them(in_b, b, result_.in_a);
        pair_runs(in_a, in_b, only_ones);
    }

    bool free(TensorId x, TensorId y) const noexcept { return result_.in_b[x] == no_tensor && result_.in_a[y] == no_tensor; }

    bool names_fit(TensorId x, TensorId y) const noexcept { return names_ == NameRule::any || names_a_[x] == names_b_[y]; }

    /// A source that had several users left may have only one now. Sources with many users are not looked at again: that would be
    /// quadratic.
    void pair_here(TensorId x, TensorId y) {
        constexpr size_t few = 8;
        pair(x, y);
        for (int slot = 0; slot < GraphShape::n_slots; ++slot) {
            const TensorId p = a_.source(x, slot), q = b_.source(y, slot);
            if (p != no_tensor && q != no_tensor && result_.in_b[p] == q && a_.n_uses(p) <= few && b_.n_uses(q) <= few) {
                waiting_.push_back(p);
            }
        }
    }

    const GraphShape &a_, &b_;
    const Hashes names_a_, names_b_;
    Alignment result_;
    size_t n_aligned_ = 0;
    NameRule names_ = NameRule::any; ///< of the neighbours that are aligned now
    std::deque<TensorId> waiting_;   ///< aligned tensors of a whose neighbours are to be looked at
};

bool same_names(const OwnedGraph& a, const OwnedGraph& b) noexcept {
    return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                      [](const TensorInfo& x, const TensorInfo& y) { return x.op == y.op && x.name == y.name; });
}

} // namespace

Alignment align(const OwnedGraph& a, const OwnedGraph& b) {
    const GraphShape shape_a(a), shape_b(b);
    return Aligner(shape_a, shape_b).run();
}

std::optional<Alignment> align_listed(const OwnedGraph& listed, const OwnedGraph& whole) {
    const auto& nodes = whole.nodes;
    const auto is_view_at = [&](size_t i) { return is_view_op(whole.tensors[nodes[i]].op.value_or(Op::NONE)); };
    if (listed.nodes.size() > nodes.size()) {
        return std::nullopt;
    }
    for (size_t i = 0; i < nodes.size(); ++i) { // views at the end are not even counted in a log
        const bool is_listed = i < listed.nodes.size() && !is_left_out(listed.tensors[listed.nodes[i]]);
        const std::optional<Op> op = is_listed ? listed.tensors[listed.nodes[i]].op : std::nullopt;
        if (is_listed == is_view_at(i) || (op && op != whole.tensors[nodes[i]].op)) {
            return std::nullopt;
        }
    }
    Alignment result;
    result.in_b.assign(listed.tensors.size(), no_tensor);
    result.in_a.assign(whole.tensors.size(), no_tensor);
    const auto pair = [&](TensorId x, TensorId y) {
        if (result.in_b[x] == no_tensor && result.in_a[y] == no_tensor) {
            result.in_b[x] = y;
            result.in_a[y] = x;
        }
    };
    for (size_t i = 0; i < listed.nodes.size(); ++i) {
        if (!is_view_at(i)) { // a view has a name only where it is read
            pair(listed.nodes[i], nodes[i]);
        }
    }
    for (size_t i = 0; i < listed.nodes.size(); ++i) {
        const auto& sources = listed.tensors[listed.nodes[i]].src;
        size_t slot = 0; // a log lists the sources that are there
        for (const TensorId source : whole.tensors[nodes[i]].src) {
            if (source != no_tensor && slot < sources.size()) {
                if (const TensorId of_log = sources[slot++]; of_log != no_tensor) {
                    pair(of_log, source);
                }
            }
        }
    }
    for (size_t i = 0; i < listed.nodes.size(); ++i) {
        pair(listed.nodes[i], nodes[i]);
    }
    result.work = std::ssize(listed.tensors) + std::ssize(whole.tensors);
    return result;
}

std::vector<TensorId> align_by_name(const OwnedGraph& a, const OwnedGraph& b) {
    std::vector<TensorId> match(a.tensors.size(), no_tensor);
    if (same_names(a, b)) {
        for (size_t id = 0; id < match.size(); ++id) {
            match[id] = int_of(id);
        }
        return match;
    }
    std::unordered_map<uint64_t, std::vector<TensorId>> places; // by likeness, the next one last
    const std::vector<uint64_t> wanted = GraphShape(a).named(), there = GraphShape(b).named();
    for (size_t id = there.size(); id > 0; --id) {
        places[there[id - 1]].push_back(int_of(id - 1));
    }
    for (size_t id = 0; id < wanted.size(); ++id) {
        const auto found = places.find(wanted[id]);
        if (found != places.end() && !found->second.empty()) {
            match[id] = found->second.back();
            found->second.pop_back();
        }
    }
    return match;
}

} // namespace schedscope
