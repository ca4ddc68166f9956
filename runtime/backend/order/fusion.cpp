#include "runtime/backend/order/fusion.h"

#include "runtime/backend/buffer.h"
#include "runtime/backend/order/fusion_pattern.h"
#include "runtime/backend/order/node_order.h"
#include "runtime/numbers.h"
#include "runtime/planner/memory/allocated_graph.h"

#include <algorithm>
#include <vector>

namespace schedscope {

namespace fused {

namespace {

// All patterns; chains of each length are patterns of their own.
constexpr Pattern patterns[] = {
    {rms_norm_mul_add, 3, Op::ADD, looks_like_norm},
    {rms_norm_mul, 2, Op::MUL, looks_like_norm},
    {norm_mul_add, 3, Op::ADD, looks_like_norm},
    {norm_mul, 2, Op::MUL, looks_like_norm},
    {gate_up, 4, Op::MUL, looks_like_gate_up},
    {gate_up, 3, Op::GLU, looks_like_gate_up},
    {mul_mat_add_act, 3, Op::UNARY, looks_like_product},
    {mul_mat_add, 2, Op::ADD, looks_like_product},
    {rope_set_rows, 2, Op::SET_ROWS, looks_like_rope_store},
    {add_chain, 8, Op::ADD, looks_like_chain},
    {add_chain, 7, Op::ADD, looks_like_chain},
    {add_chain, 6, Op::ADD, looks_like_chain},
    {add_chain, 5, Op::ADD, looks_like_chain},
    {add_chain, 4, Op::ADD, looks_like_chain},
    {add_chain, 3, Op::ADD, looks_like_chain},
    {add_chain, 2, Op::ADD, looks_like_chain},
};

/// Nodes farther apart than this are left there: bringing them together would keep what one of them makes for long.
constexpr int32_t farthest = 64;

class Finder final : public Positions {
public:
    Finder(SplitGraph& split, const FusedKernels& kernels) : split_(split), kernels_(kernels) {
        TensorId ids = 0;
        for (const Tensor* node : split.nodes) {
            ids = std::max(ids, node->id + 1);
        }
        position_.assign(ids, -1);
        group_.assign(ids, -1);
        note_positions(0, split.nodes.size());
    }

    int32_t of(const Tensor& t) const noexcept override {
        const size_t id = t.id;
        const int32_t at = t.id >= 0 && id < position_.size() ? position_[id] : -1;
        return at >= 0 && split_.nodes[at] == &t ? at : -1;
    }

    void find() {
        const std::vector<Tensor*> nodes = split_.nodes;
        for (size_t size = fused::max_chain; size >= 2; --size) {
            std::vector<const Pattern*> of_size;
            for (const Pattern& p : patterns) {
                if (p.n_nodes == size && kernels_.has(p.kernel)) {
                    of_size.push_back(&p);
                }
            }
            if (of_size.empty()) {
                continue;
            }
            for (Tensor* last : nodes) {
                for (const Pattern* p : of_size) {
                    if (p->last == last->op) {
                        consider(*p, *last);
                    }
                }
            }
        }
        write();
    }

private:
    struct Apart {
        const Tensor *first, *second;
        std::string_view why;
    };

    void consider(const Pattern& pattern, Tensor& last) {
        Match nearest;
        for (int choice = 0; choice < 2; ++choice) {
            Match match;
            if (!pattern.looks_like(pattern, last, choice, *this, match)) {
                break;
            }
            std::sort(match.member.begin(), match.member.begin() + match.n,
                      [this](const Tensor* a, const Tensor* b) { return of(*a) < of(*b); });
            check(pattern, match);
            if (match.why.empty() || match.why == batch_too_large) {
                take(match, match.why.empty() ? pattern.kernel : std::string_view());
                if (!match.why.empty()) {
                    apart_.push_back({match.first, match.second, match.why});
                }
                return;
            }
            if (choice == 0) {
                nearest = match;
            }
        }
        if (!nearest.why.empty()) {
            apart_.push_back({nearest.first, nearest.second, nearest.why});
        }
    }

    void check(const Pattern& pattern, Match& match) {
        const std::span<Tensor* const> nodes(match.member.data(), match.n);
        for (size_t i = 0; i < match.n; ++i) {
            if (group_of(*nodes[i]) >= 0) {
                match.blame(*nodes[i > 0 ? i - 1 : 0], *nodes[i > 0 ? i : 1], "another group");
            }
        }
        if (!match.why.empty()) {
            return;
        }
        const std::string_view backend_says = kernels_.why_not(pattern.kernel, nodes);
        if (backend_says.empty() || backend_says == batch_too_large) {
            match.blame(*nodes[match.n - 2], *nodes.back(), pack(match));
            match.blame(*nodes.front(), *nodes.back(), backend_says);
        } else {
            match.blame(*nodes[match.n - 2], *nodes.back(), backend_says);
        }
    }

    /// Moves the nodes between the members before the group, those that depend on it behind it. Empty, or why that can't be.
    std::string_view pack(const Match& match) {
        const size_t first = of(*match.member[0]);
        const auto end = static_cast<size_t>(of(*match.member[match.n - 1])) + 1;
        if (end - first > farthest) {
            return "too far apart";
        }
        std::vector<Tensor*> before, behind, members;
        const auto must_follow_any = [](const Tensor& node, const std::vector<Tensor*>& others) {
            return std::any_of(others.begin(), others.end(), [&](const Tensor* o) { return must_follow(node, *o); });
        };
        for (size_t i = first; i < end;) {
            const size_t unit_end = end_of_unit(i);
            const std::span<Tensor* const> unit(split_.nodes.data() + i, unit_end - i);
            const bool waits = std::any_of(unit.begin(), unit.end(), [&](const Tensor* node) {
                return must_follow_any(*node, behind) || (!match.has(unit[0]) && must_follow_any(*node, members));
            });
            if (match.has(unit[0])) {
                if (waits) {
                    return "order";
                }
                members.push_back(unit[0]);
            } else {
                auto& to = waits ? behind : before;
                to.insert(to.end(), unit.begin(), unit.end());
            }
            i = unit_end;
        }
        auto to = split_.nodes.begin() + first;
        for (const auto* part : {&before, &members, &behind}) {
            to = std::copy(part->begin(), part->end(), to);
        }
        note_positions(first, end);
        return {};
    }

    /// Without a kernel: together, but each node by itself.
    void take(const Match& match, std::string_view kernel) {
        const auto group = n_of(kernels_taken_);
        kernels_taken_.push_back(kernel);
        for (size_t i = 0; i < match.n; ++i) {
            group_[match.member[i]->id] = group;
        }
    }

    /// Groups in order; pairs that are apart after all, each once.
    void write() {
        split_.groups.clear();
        split_.not_fused.clear();
        for (size_t i = 0; i < split_.nodes.size();) {
            const size_t end = end_of_unit(i);
            if (const int32_t group = group_of(*split_.nodes[i]); group >= 0 && !kernels_taken_[group].empty()) {
                split_.groups.push_back({int_of(i), int_of(end - i), kernels_taken_[group]});
            }
            i = end;
        }
        for (const Apart& a : apart_) {
            const int32_t group = group_of(*a.first);
            if (group < 0 || group != group_of(*a.second) || a.why == batch_too_large) {
                split_.not_fused.push_back({of(*a.first), of(*a.second), a.why});
            }
        }
        const auto place = [](const UnfusedPair& p) { return std::pair(p.second, p.first); };
        std::stable_sort(split_.not_fused.begin(), split_.not_fused.end(),
                         [place](const UnfusedPair& a, const UnfusedPair& b) { return place(a) < place(b); });
        const auto same = [place](const UnfusedPair& a, const UnfusedPair& b) { return place(a) == place(b); };
        split_.not_fused.erase(std::unique(split_.not_fused.begin(), split_.not_fused.end(), same), split_.not_fused.end());
    }

    int32_t group_of(const Tensor& t) const noexcept { return group_[t.id]; }
    size_t end_of_unit(size_t i) const noexcept {
        const int32_t group = group_of(*split_.nodes[i]);
        size_t end = i + 1;
        while (group >= 0 && end < split_.nodes.size() && group_of(*split_.nodes[end]) == group) {
            ++end;
        }
        return end;
    }
    void note_positions(size_t first, size_t end) {
        for (size_t i = first; i < end; ++i) {
            position_[split_.nodes[i]->id] = int_of(i);
        }
    }

    SplitGraph& split_;
    const FusedKernels& kernels_;
    std::vector<int32_t> position_;               ///< by id
    std::vector<int32_t> group_;                  ///< by id
    std::vector<std::string_view> kernels_taken_; ///< by group
    std::vector<Apart> apart_;
};

} // namespace

} // namespace fused

void find_groups(SplitGraph& split, const FusedKernels& kernels) { fused::Finder(split, kernels).find(); }

namespace {

bool goes_along(Op op, size_t slot) noexcept {
    const Along along = traits(op).along;
    return along == Along::all || (along == Along::source_0 && slot == 0);
}

bool overlap(const Tensor& a, const Tensor& b) noexcept {
    return a.buffer == b.buffer && a.offset < b.offset + n_bytes(b) && b.offset < a.offset + n_bytes(a);
}

bool same_place(const Tensor& a, const Tensor& b) noexcept {
    return a.buffer == b.buffer && a.offset == b.offset && a.type == b.type && a.ne == b.ne && a.nb == b.nb;
}

} // namespace

bool group_is_safe(std::span<Tensor* const> nodes) noexcept {
    const Tensor& result = *nodes.back();
    for (const Tensor* node : nodes) {
        for (size_t slot = 0; slot < node->src.size() && !is_view_op(node->op); ++slot) {
            const Tensor* source = node->src[slot];
            const bool target = int_of(slot) == traits(node->op).target;
            if (source == nullptr || target || std::find(nodes.begin(), nodes.end(), source) != nodes.end()) {
                continue;
            }
            if (overlap(result, *source) && !(goes_along(node->op, slot) && same_place(result, *source))) {
                return false;
            }
        }
    }
    return true;
}

} // namespace schedscope
