#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

namespace schedscope::test {

/// A graph as models have them, put together at random: norms, sums, products, gates, keys that are turned and stored, readers of the store
/// through views before and behind its writers. Seeded; all leafs are inputs.
class RandomGraph {
public:
    explicit RandomGraph(uint32_t seed, int64_t n_tokens, int n_steps = 24) : random_(seed), n_tokens_(n_tokens) {
        pool_ = {leaf(Type::F32, {width, n_tokens, 1, 1}), leaf(Type::F32, {width, n_tokens, 1, 1})};
        for (const Type type : {Type::F32, Type::F16, Type::Q8_0}) {
            caches_.push_back(leaf(type, {width, cells, 1, 1}));
        }
        positions_ = leaf(Type::I32, {n_tokens, 1, 1, 1});
        rows_ = leaf(Type::I64, {n_tokens, 1, 1, 1});
        for (int i = 0; i < n_steps; ++i) {
            step();
        }
        for (Tensor* t : pool_) {
            graph.expand(t);
        }
        graph.number();
        for (Tensor* t : graph.nodes()) {
            if (t->view_source == nullptr && (t->readers == 0 || one_in(20))) {
                t->flags |= flag_output;
            }
        }
    }

    Graph graph;

    /// The same bytes for a leaf each time.
    std::vector<std::byte> bytes_of(const Tensor& t) const {
        std::vector<std::byte> bytes(n_bytes(t));
        std::mt19937 random(static_cast<uint32_t>(t.id) + 1);
        std::vector<float> row(static_cast<size_t>(t.ne[0]));
        for (int64_t r = 0; r < n_rows(t); ++r) {
            std::byte* to = bytes.data() + static_cast<size_t>(r) * t.nb[1];
            if (t.type == Type::I32 || t.type == Type::I64) {
                for (int64_t i = 0; i < t.ne[0]; ++i) { // rows in the cache, each once; positions
                    const int64_t id = (i * 5 + 3) % cells;
                    std::memcpy(to + static_cast<size_t>(i) * t.nb[0], &id, traits(t.type).bytes);
                }
                continue;
            }
            for (float& v : row) {
                v = std::uniform_real_distribution<float>(-0.3F, 0.3F)(random);
            }
            row_from_float(t.type, row.data(), to, t.ne[0]);
        }
        return bytes;
    }
    /// What somebody looks at when all is done: outputs, and the caches that were written or read.
    std::vector<Tensor*> outputs() const {
        std::vector<Tensor*> all;
        std::copy_if(caches_.begin(), caches_.end(), std::back_inserter(all), [](const Tensor* t) { return t->id >= 0; });
        for (Tensor* t : graph.nodes()) {
            if ((t->flags & flag_output) != 0) {
                all.push_back(t);
            }
        }
        return all;
    }

private:
    static constexpr int64_t width = 64, cells = 32;

    int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
    bool one_in(int64_t n) { return below(n) == 0; }
    Tensor* leaf(Type type, const Shape& ne) { return graph.input(type, ne); }
    /// Something made lately, so that most is read once.
    Tensor* some() {
        const auto n = static_cast<int64_t>(pool_.size());
        return pool_[static_cast<size_t>(n - 1 - below(std::min<int64_t>(n, one_in(3) ? 6 : 2)))];
    }
    Tensor* row() { return leaf(Type::F32, {width, 1, 1, 1}); }
    Tensor* product(Tensor* x) {
        const Type types[] = {Type::F32, Type::F16, Type::Q8_0};
        return ops::mul_mat(graph, leaf(types[below(3)], {width, width, 1, 1}), x);
    }
    UnaryOp function() {
        const UnaryOp all[] = {UnaryOp::SILU, UnaryOp::GELU, UnaryOp::RELU, UnaryOp::GELU_QUICK};
        return all[below(4)];
    }
    Tensor* cache_rows(Tensor* cache) { return ops::view_2d(graph, cache, width, n_tokens_, cache->nb[1], 0); }

    void step() {
        Tensor* x = some();
        switch (below(7)) {
        case 0: x = norm(x); break;
        case 1: x = ops::add(graph, x, one_in(3) ? row() : some()); break;
        case 2: x = with_bias(product(x)); break;
        case 3: x = product(gated(x)); break;
        case 4: return store(x);
        case 5: x = ops::cast(graph, cache_rows(caches_[static_cast<size_t>(below(3))]), Type::F32); break;
        default: return graph.expand(ops::cpy(graph, x, cache_rows(caches_[static_cast<size_t>(below(3))])));
        }
        if (one_in(2)) {
            graph.expand(x);
        }
        pool_.push_back(x);
    }
    Tensor* norm(Tensor* x) {
        x = one_in(2) ? ops::rms_norm(graph, x, 1e-5F) : ops::norm(graph, x, 1e-5F);
        x = ops::mul(graph, x, one_in(4) ? some() : row());
        return one_in(2) ? ops::add(graph, x, row()) : x;
    }
    Tensor* with_bias(Tensor* x) {
        x = one_in(2) ? ops::add(graph, x, row()) : ops::add(graph, some(), x);
        return one_in(2) ? ops::unary(graph, x, function()) : x;
    }
    Tensor* gated(Tensor* x) {
        Tensor* up = product(x);
        if (one_in(2)) {
            graph.expand(up);
        }
        Tensor* gate = product(x);
        if (one_in(2)) {
            const GluOp all[] = {GluOp::SWIGLU, GluOp::GEGLU, GluOp::REGLU};
            return ops::glu(graph, gate, up, all[below(3)]);
        }
        return ops::mul(graph, ops::unary(graph, gate, function()), up);
    }
    void store(Tensor* x) {
        RopeParams p;
        p.n_dims = 16;
        p.mode = one_in(2) ? 2 : 0;
        x = ops::rope(graph, ops::reshape(graph, x, {16, width / 16, n_tokens_, 1}), positions_, nullptr, p);
        if (one_in(2)) {
            graph.expand(x);
        }
        Tensor* rows = ops::view_2d(graph, x, width, n_tokens_, x->nb[2], 0);
        if (one_in(4)) { // somebody looks at the cache in between
            pool_.push_back(ops::cast(graph, cache_rows(caches_[0]), Type::F32));
            graph.expand(pool_.back());
        }
        graph.expand(ops::set_rows(graph, caches_[static_cast<size_t>(below(3))], rows, rows_));
    }

    std::mt19937 random_;
    int64_t n_tokens_;
    std::vector<Tensor*> pool_, caches_;
    Tensor *positions_ = nullptr, *rows_ = nullptr;
};

} // namespace schedscope::test
