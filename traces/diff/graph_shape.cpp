#include "traces/diff/graph_shape.h"

#include "runtime/numbers.h"
#include "runtime/ops/params.h"
#include "traces/format/row_hash.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace schedscope {

namespace {

/// A number for a sequence of numbers.
class SequenceHash {
public:
    template <typename T> SequenceHash& operator<<(T value) noexcept {
        constexpr uint64_t odd = 0x9E3779B97F4A7C15U; // of no value is 0 its own hash
        hash_ = mixed((hash_ ^ static_cast<uint64_t>(value)) + odd) + 1;
        return *this;
    }
    /// What is unknown counts as the first of its kind, so that graphs that lack the same are like each other.
    template <typename T> SequenceHash& operator<<(const Known<T>& value) noexcept { return *this << value.value_or(T{}); }
    uint64_t hash() const noexcept { return hash_; }

private:
    uint64_t hash_ = 0;
};

/// Which of its kind an operator is stands in its first parameter.
bool kind_is_parameter(std::optional<Op> op) noexcept { return op == Op::UNARY || op == Op::GLU; }

uint64_t label(const TensorInfo& t, Likeness likeness) {
    SequenceHash s;
    s << t.op << (t.usage == BufferUsage::weights) << (kind_is_parameter(t.op) && t.params ? (*t.params)[0] : 0);
    if (t.foreign != nullptr) {
        s << std::hash<std::string_view>()(op_name(t));
    }
    if (likeness == Likeness::operator_only) {
        return s.hash();
    }
    s << t.type << (t.flags & flag_input);
    if (likeness == Likeness::typed) {
        return s.hash();
    }
    s << t.flags << t.usage << t.view_offset;
    const Shape ne = t.ne.value_or(Shape{});
    const Strides nb = t.nb.value_or(Strides{});
    for (size_t i = 0; i < ne.size(); ++i) {
        s << ne[i] << nb[i];
    }
    for (const int32_t parameter : with_precision_as_now(t.op, t.params.value_or(Params{}))) {
        s << parameter;
    }
    return s.hash();
}

/// "node_21", "leaf_5 (view)": a name that was made of the tensor's place in its graph.
bool says_nothing(std::string_view name) noexcept {
    if (!name.starts_with("node_") && !name.starts_with("leaf_")) {
        return name.empty();
    }
    constexpr size_t prefix = 5;
    const size_t end = std::min(name.find(' '), name.size());
    return end > prefix && std::all_of(name.begin() + prefix, name.begin() + end,
                                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

} // namespace

GraphShape::GraphShape(const OwnedGraph& graph) : graph_(graph), first_use_(graph.tensors.size() + 1, 0) {
    const auto n = n_of(graph.tensors);
    const auto for_each_source = [&](auto&& f) {
        for (TensorId id = 0; id < n; ++id) {
            for (int slot = 0; slot < n_slots; ++slot) {
                if (const TensorId s = source(id, slot); s != no_tensor) {
                    f(id, slot, s);
                }
            }
        }
    };
    std::vector<int32_t> n_missing(graph.tensors.size(), 0);
    for_each_source([&](TensorId id, int, TensorId s) {
        ++first_use_[static_cast<size_t>(s) + 1];
        ++n_missing[id];
    });
    for (size_t i = 1; i < first_use_.size(); ++i) {
        first_use_[i] += first_use_[i - 1];
    }
    uses_.resize(first_use_.back());
    std::vector<size_t> next(first_use_.begin(), first_use_.end() - 1);
    for_each_source([&](TensorId id, int slot, TensorId s) { uses_[next[s]++] = {id, slot}; });

    order_.reserve(graph.tensors.size());
    for (TensorId id = 0; id < n; ++id) {
        if (n_missing[id] == 0) {
            order_.push_back(id);
        }
    }
    for (size_t i = 0; i < order_.size(); ++i) {
        for (const Use* use = uses_begin(order_[i]); use != uses_end(order_[i]); ++use) {
            if (--n_missing[use->user] == 0) {
                order_.push_back(use->user);
            }
        }
    }
}

TensorId GraphShape::source(TensorId id, int slot) const noexcept {
    const TensorInfo& t = graph_.tensors[id];
    return slot < max_sources ? t.src[slot] : t.view_source;
}

bool GraphShape::has_sources(TensorId id) const noexcept {
    for (int slot = 0; slot < n_slots; ++slot) {
        if (source(id, slot) != no_tensor) {
            return true;
        }
    }
    return false;
}

std::vector<uint64_t> GraphShape::labels(Likeness likeness) const {
    std::vector<uint64_t> labels;
    labels.reserve(n_tensors());
    for (const TensorInfo& t : graph_.tensors) {
        labels.push_back(label(t, likeness));
    }
    return labels;
}

std::vector<uint64_t> GraphShape::above(const std::vector<uint64_t>& labels) const {
    std::vector<uint64_t> hashes = labels;
    for (const TensorId id : order_) {
        SequenceHash s;
        s << labels[id];
        for (int slot = 0; slot < n_slots; ++slot) {
            if (const TensorId from = source(id, slot); from != no_tensor) {
                s << slot << hashes[from];
            }
        }
        hashes[id] = s.hash();
    }
    return hashes;
}

std::vector<uint64_t> GraphShape::below(const std::vector<uint64_t>& labels) const {
    std::vector<uint64_t> hashes = labels;
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
        uint64_t users = 0; // in no order: a sum
        for (const Use* use = uses_begin(*id); use != uses_end(*id); ++use) {
            users += (SequenceHash() << use->slot << hashes[use->user]).hash();
        }
        hashes[*id] = (SequenceHash() << labels[*id] << users).hash();
    }
    return hashes;
}

std::vector<uint64_t> GraphShape::names() const {
    std::vector<uint64_t> hashes;
    hashes.reserve(n_tensors());
    for (const TensorInfo& t : graph_.tensors) {
        SequenceHash s;
        for (const char c : t.name) {
            s << static_cast<unsigned char>(c);
        }
        hashes.push_back(says_nothing(t.name) ? 0 : s.hash());
    }
    return hashes;
}

std::vector<uint64_t> GraphShape::named_leafs() const {
    std::vector<uint64_t> hashes = names();
    for (TensorId id = 0; id < n_of(hashes); ++id) {
        const TensorInfo& t = graph_.tensors[id];
        if (hashes[id] == 0 || has_sources(id) || (t.op && *t.op != Op::NONE)) {
            hashes[id] = 0;
            continue;
        }
        SequenceHash s;
        s << hashes[id] << t.type;
        for (const int64_t n : t.ne.value_or(Shape{})) {
            s << n;
        }
        hashes[id] = s.hash();
    }
    return hashes;
}

std::vector<uint64_t> GraphShape::named() const {
    const std::vector<uint64_t> own_names = names();
    std::vector<uint64_t> hashes(n_tensors(), 0);
    for (const TensorId id : order_) {
        const TensorInfo& t = graph_.tensors[id];
        SequenceHash s;
        s << t.op << own_names[id];
        if (t.foreign != nullptr) {
            s << std::hash<std::string_view>()(op_name(t));
        }
        if (own_names[id] == 0) {
            s << t.type << t.view_offset;
            for (const int64_t n : t.ne.value_or(Shape{})) {
                s << n;
            }
            for (int slot = 0; slot < n_slots; ++slot) {
                if (const TensorId from = source(id, slot); from != no_tensor) {
                    s << slot << hashes[from];
                }
            }
        }
        hashes[id] = s.hash();
    }
    return hashes;
}

} // namespace schedscope
