#include "runtime/backend/order/node_order.h"

#include "runtime/numbers.h"
#include "runtime/planner/memory/allocated_graph.h"

#include <algorithm>

namespace schedscope {

namespace {

const Tensor& owner(const Tensor& t) noexcept { return t.view_source != nullptr ? *t.view_source : t; }

bool moves_data(const Tensor& node) noexcept { return is_computed(node.op); }

bool touches(const Tensor& node, const Tensor& memory) noexcept {
    return std::any_of(node.src.begin(), node.src.end(),
                       [&](const Tensor* source) { return source != nullptr && &owner(*source) == &memory; });
}

} // namespace

bool must_wait(const Tensor& later, const Tensor& earlier) noexcept {
    if (!moves_data(later) || !moves_data(earlier)) {
        return false;
    }
    const Tensor& written_first = owner(earlier);
    const Tensor& written_then = owner(later);
    return &written_first == &written_then || touches(later, written_first) || touches(earlier, written_then);
}

bool must_follow(const Tensor& later, const Tensor& earlier) noexcept {
    return std::find(later.src.begin(), later.src.end(), &earlier) != later.src.end() || must_wait(later, earlier);
}

namespace {

template <typename Each> void for_sources(const Tensor& node, Each each) {
    for (const Tensor* source : node.src) {
        if (source != nullptr) {
            each(*source);
        }
    }
}

/// One more than the largest number of a node, its sources and their owners.
size_t n_ids(std::span<Tensor* const> nodes) {
    TensorId n = -1;
    for (const Tensor* node : nodes) {
        n = std::max({n, node->id, owner(*node).id});
        for_sources(*node, [&n](const Tensor& source) { n = std::max({n, source.id, owner(source).id}); });
    }
    return n + 1;
}

} // namespace

BrokenOrder broken_order(std::span<Tensor* const> before, std::span<Tensor* const> after) {
    struct Memory {
        const Tensor* writer = nullptr; ///< the last one so far
        const Tensor* reader = nullptr; ///< of those since then the one that is last now
    };
    std::vector<Memory> memory(n_ids(before));
    std::vector<int32_t> now(memory.size(), -1);
    for (size_t i = 0; i < after.size(); ++i) {
        now[after[i]->id] = int_of(i);
    }
    const auto place = [&now](const Tensor& t) { return now[t.id]; };
    BrokenOrder broken;
    const auto check = [&](const Tensor* earlier, const Tensor& later) {
        if (earlier != nullptr && earlier != &later && place(*earlier) > place(later)) {
            broken = {earlier, &later};
        }
    };
    for (const Tensor* node : before) {
        for_sources(*node, [&](const Tensor& source) { check(&source, *node); });
        if (!moves_data(*node)) {
            continue;
        }
        for_sources(*node, [&](const Tensor& source) {
            Memory& m = memory[owner(source).id];
            check(m.writer, *node);
            if (m.reader == nullptr || place(*m.reader) < place(*node)) {
                m.reader = node;
            }
        });
        Memory& m = memory[owner(*node).id];
        check(m.writer, *node);
        check(m.reader, *node);
        m = {node, nullptr};
        if (broken.earlier != nullptr) {
            break;
        }
    }
    return broken;
}

namespace {

/// Nodes that stay together: a group, what a smaller batch would make one, or one node.
struct NodesTogether {
    int32_t first = 0, count = 1;
    int32_t group = -1;
};

/// Nodes taken note of, so that one more can be compared with all of them at once: what they are, read and write, by id.
class Noted {
public:
    explicit Noted(size_t n_ids) : marks_(n_ids) {}

    void clear() noexcept { ++now_; }
    void note(const Tensor& node) {
        mark(node).node = now_;
        if (moves_data(node)) {
            mark(owner(node)).written = now_;
            for_sources(node, [this](const Tensor& source) { mark(owner(source)).read = now_; });
        }
    }
    /// Must the node wait for any of them?
    bool waits(const Tensor& node) const {
        if (!moves_data(node)) {
            return false;
        }
        const Mark& written = mark(owner(node));
        bool found = written.written == now_ || written.read == now_;
        for_sources(node, [&](const Tensor& source) { found = found || mark(owner(source)).written == now_; });
        return found;
    }
    bool follows(const Tensor& node) const {
        bool found = waits(node);
        for_sources(node, [&](const Tensor& source) { found = found || mark(source).node == now_; });
        return found;
    }

private:
    struct Mark {
        uint32_t node = 0, read = 0, written = 0; ///< when last noted
    };
    Mark& mark(const Tensor& t) { return marks_[t.id]; }
    const Mark& mark(const Tensor& t) const { return marks_[t.id]; }

    std::vector<Mark> marks_;
    uint32_t now_ = 1;
};

class Spreading {
public:
    explicit Spreading(SplitGraph& split) : split_(split), together_(n_ids(split.nodes)), passed_(n_ids(split.nodes)) {
        std::vector<NodesTogether> together;
        for (size_t g = 0; g < split.groups.size(); ++g) {
            together.push_back({split.groups[g].first, split.groups[g].count, int_of(g)});
        }
        for (const UnfusedPair& pair : split.not_fused) {
            if (pair.why == batch_too_large) {
                together.push_back({pair.first, pair.second - pair.first + 1, -1});
            }
        }
        std::sort(together.begin(), together.end(),
                  [](const NodesTogether& a, const NodesTogether& b) { return a.first < b.first; });
        auto next = together.begin();
        for (int32_t i = 0; i < n_of(split.nodes); i += units_.back().count) {
            units_.push_back(next != together.end() && next->first == i ? *next++ : NodesTogether{i, 1, -1});
        }
    }

    void run() {
        for (size_t next = 0; next < units_.size(); ++next) {
            size_t chosen = first_without_wait(next);
            if (chosen == units_.size()) { // all must wait; it is the next one's turn
                together_.clear();
                chosen = next;
            }
            for (const Tensor* node : nodes_of(units_[chosen])) {
                together_.note(*node);
            }
            const auto at = units_.begin() + chosen;
            std::rotate(units_.begin() + next, at, at + 1);
        }
        write();
    }

private:
    /// How many units further on are looked at. What a moved node makes is kept until its turn would have come.
    static constexpr size_t look_ahead = 24;

    std::span<Tensor* const> nodes_of(const NodesTogether& unit) const {
        return std::span(split_.nodes).subspan(unit.first, unit.count);
    }

    size_t first_without_wait(size_t next) {
        passed_.clear();
        const size_t end = std::min(units_.size(), next + look_ahead);
        for (size_t i = next; i < end; ++i) {
            const std::span<Tensor* const> nodes = nodes_of(units_[i]);
            if (std::none_of(nodes.begin(), nodes.end(),
                             [this](const Tensor* node) { return together_.waits(*node) || passed_.follows(*node); })) {
                return i;
            }
            for (const Tensor* node : nodes) {
                passed_.note(*node);
            }
        }
        return units_.size();
    }

    void write() {
        std::vector<Tensor*> nodes;
        std::vector<FusionGroup> groups;
        std::vector<int32_t> now(split_.nodes.size());
        for (const NodesTogether& unit : units_) {
            if (unit.group >= 0) {
                groups.push_back(split_.groups[unit.group]);
                groups.back().first = n_of(nodes);
            }
            for (int32_t i = unit.first; i < unit.first + unit.count; ++i) {
                now[i] = n_of(nodes);
                nodes.push_back(split_.nodes[i]);
            }
        }
        for (UnfusedPair& pair : split_.not_fused) {
            pair.first = now[pair.first];
            pair.second = now[pair.second];
        }
        split_.nodes = std::move(nodes);
        split_.groups = std::move(groups);
    }

    SplitGraph& split_;
    std::vector<NodesTogether> units_; ///< ordered up to the one that is next
    Noted together_;                   ///< since the last wait
    Noted passed_;                     ///< by the one that is looked at
};

} // namespace

void spread_waits(SplitGraph& split) {
    if (!split.nodes.empty()) {
        Spreading(split).run();
    }
}

} // namespace schedscope
