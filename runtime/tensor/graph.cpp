#include "runtime/tensor/graph.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <limits>

namespace schedscope {

namespace {

size_t slot_of(const Tensor* t, size_t capacity) noexcept {
    auto bits = reinterpret_cast<uintptr_t>(t) >> 4U;
    bits *= 0x9E3779B97F4A7C15ULL;
    return (bits >> 20U) & (capacity - 1);
}

/// Puts t into an open-addressed set whose capacity is a power of two. False: it was there.
bool insert(std::vector<const Tensor*>& set, const Tensor* t) {
    size_t i = slot_of(t, set.size());
    while (set[i] != nullptr) {
        if (set[i] == t) {
            return false;
        }
        i = (i + 1) & (set.size() - 1);
    }
    set[i] = t;
    return true;
}

} // namespace

Tensor* TensorStore::make(Type type, const Shape& ne, std::string_view name) {
    const TypeTraits& t = traits(type);
    int64_t bytes = t.bytes;
    for (size_t i = 0; i < ne.size(); ++i) {
        const int64_t count = i == 0 ? ne[0] / t.block : ne[i];
        if (ne[i] <= 0 || count <= 0 || bytes > std::numeric_limits<int64_t>::max() / count) {
            throw Error(ErrorKind::usage, "tensor '" + std::string(name) + "': impossible shape " + shape_text(ne));
        }
        bytes *= count;
    }
    if (ne[0] % t.block != 0) {
        throw Error(ErrorKind::usage, "tensor '" + std::string(name) + "': rows of " + std::to_string(ne[0]) +
                                          " do not divide into blocks of " + std::string(t.name));
    }
    Tensor& made = tensors_.emplace_back();
    made.type = type;
    made.ne = ne;
    made.nb = contiguous_strides(type, ne);
    made.name = name.substr(0, max_name);
    return &made;
}

Tensor* Graph::make(Type type, const Shape& ne, std::string_view name) {
    Tensor* t = store_.make(type, ne, name);
    t->role = part_.role;
    t->layer = part_.layer;
    return t;
}

Tensor* Graph::input(Type type, const Shape& ne, std::string_view name) {
    Tensor* t = make(type, ne, name);
    t->flags |= flag_input;
    return t;
}

bool Graph::visit(const Tensor* t) {
    if (2 * (n_visited_ + 1) > visited_.size()) {
        std::vector<const Tensor*> larger(std::max<size_t>(1024, 2 * visited_.size()), nullptr);
        for (const Tensor* old : visited_) {
            if (old != nullptr) {
                insert(larger, old);
            }
        }
        visited_.swap(larger);
    }
    const bool added = insert(visited_, t);
    n_visited_ += added ? 1 : 0;
    return added;
}

void Graph::expand(Tensor* t) {
    // Depth first with a stack of our own: a graph may be deeper than the thread's.
    struct Frame {
        Tensor* tensor;
        size_t next_source;
    };
    std::vector<Frame> stack;
    if (visit(t)) {
        stack.push_back({t, 0});
    }
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.next_source < frame.tensor->src.size()) {
            Tensor* source = frame.tensor->src[frame.next_source++];
            if (source != nullptr && visit(source)) {
                stack.push_back({source, 0});
            }
            continue;
        }
        Tensor* done = frame.tensor;
        const bool leaf = done->op == Op::NONE && (done->flags & flag_param) == 0;
        auto& list = leaf ? leafs_ : nodes_;
        if (done->name.empty()) {
            done->name = (leaf ? "leaf_" : "node_") + std::to_string(list.size());
        }
        list.push_back(done);
        stack.pop_back();
    }
}

std::span<Tensor* const> Graph::number() {
    constexpr TensorId unlisted = -2;
    numbered_.assign(leafs_.begin(), leafs_.end());
    numbered_.insert(numbered_.end(), nodes_.begin(), nodes_.end());
    // Ids may be another graph's that shares weights with this one: mark first what only a view speaks of.
    for (const Tensor* t : numbered_) {
        if (t->view_source != nullptr) {
            t->view_source->id = unlisted;
        }
    }
    const size_t listed = numbered_.size();
    for (size_t i = 0; i < listed; ++i) {
        numbered_[i]->id = int_of(i);
        numbered_[i]->readers = 0;
    }
    for (const Tensor* node : nodes_) {
        for (Tensor* source : node->src) {
            if (source != nullptr) {
                ++source->readers;
            }
        }
    }
    for (size_t i = 0; i < listed; ++i) {
        Tensor* source = numbered_[i]->view_source;
        if (source != nullptr && source->id == unlisted) {
            source->id = n_of(numbered_);
            numbered_.push_back(source);
        }
    }
    return numbered_;
}

} // namespace schedscope
