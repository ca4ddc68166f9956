// Columns that all threads round together, once for several products.
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/tensor/convert.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

#include <span>

namespace schedscope::test {
namespace {

class SharedColumns : public ::testing::TestWithParam<int> {
protected:
    static constexpr int64_t k = 768, n_rows_of_weights = 200; // several stretches, so that each part has its own
    static constexpr Type types[] = {Type::Q4_0, Type::Q8_0, Type::Q4_K, Type::F16, Type::BF16};
    Tensor* weights(Type type) { return weights_.emplace_back(small_.graph.input(type, {k, n_rows_of_weights, 1, 1})); }
    Tensor* columns(int64_t n) { return small_.graph.input(Type::F32, {k, n, 1, 1}); }
    /// Gives each its place, and the weights their values.
    void place(const std::vector<Tensor*>& wanted) {
        split_ = small_.place(*device_, wanted);
        for (const Tensor* const t : weights_) {
            const std::vector<float> values = some_floats(static_cast<size_t>(n_elements(*t)));
            std::vector<std::byte> rows(n_bytes(*t));
            for (int64_t r = 0; r < n_rows(*t); ++r) {
                row_from_float(t->type, &values[static_cast<size_t>(r * k)], &rows[static_cast<size_t>(r) * t->nb[1]], k);
            }
            tensor_write(*t, rows.data(), 0, rows.size());
        }
    }
    /// Each product, and the pieces that are the same product.
    static void expect_alike(const std::vector<Tensor*>& all, const std::vector<Tensor*>& in_pieces) {
        const size_t n_pieces = in_pieces.size() / all.size();
        for (size_t i = 0; i < all.size(); ++i) {
            std::vector<float> together;
            for (size_t piece = 0; piece < n_pieces; ++piece) {
                const std::vector<float> some = floats_of(*in_pieces[i * n_pieces + piece]);
                together.insert(together.end(), some.begin(), some.end());
            }
            EXPECT_EQ(floats_of(*all[i]), together) << type_name(all[i]->src[0]->type);
        }
    }
    void compute() { compute_all(*device_->make_backend({GetParam(), true, {}}), split_); }

    SmallGraph small_;
    std::unique_ptr<Device> device_ = make_cpu_device();
    std::vector<Tensor*> weights_;
    SplitGraph split_;
};

/// A product of so few that each thread rounds them by itself is the measure.
TEST_P(SharedColumns, AreThoseThatEachProductWouldRound) {
    constexpr int64_t n = 64, few = 32; // few enough for floats to be multiplied as they lie
    Tensor* const x = columns(n);
    std::vector<Tensor*> all, in_pieces;
    for (const Type type : types) {
        all.push_back(ops::mul_mat(small_.graph, weights(type), x));
    }
    for (Tensor* const w : std::vector<Tensor*>(weights_)) {
        for (int64_t first = 0; first < n; first += few) {
            in_pieces.push_back(ops::mul_mat(
                small_.graph, w, ops::view_2d(small_.graph, x, k, few, x->nb[1], static_cast<size_t>(first) * x->nb[1])));
        }
    }
    std::vector<Tensor*> wanted = all;
    wanted.insert(wanted.end(), in_pieces.begin(), in_pieces.end());
    place(wanted);
    set_floats(*x, some_floats(k * n));
    compute();
    expect_alike(all, in_pieces);
}

TEST_P(SharedColumns, AreThoseOfTheTokensOfEachExpert) {
    constexpr int64_t n = 84, few = 28, n_experts = 3, n_used = 2; // few enough for each expert, too
    Graph& g = small_.graph;
    Tensor* const x = g.input(Type::F32, {k, 1, n, 1});
    Tensor* const ids = g.input(Type::I32, {n_used, n, 1, 1});
    std::vector<Tensor*> all, in_pieces;
    for (const Type type : {Type::Q4_0, Type::BF16}) {
        Tensor* const experts = weights_.emplace_back(g.input(type, {k, n_rows_of_weights, n_experts, 1}));
        all.push_back(ops::mul_mat_id(g, experts, x, ids));
        for (int64_t first = 0; first < n; first += few) {
            const auto at = static_cast<size_t>(first);
            Tensor* const some = ops::view_3d(g, x, k, 1, few, x->nb[1], x->nb[2], at * x->nb[2]);
            in_pieces.push_back(
                ops::mul_mat_id(g, experts, some, ops::view_2d(g, ids, n_used, few, ids->nb[1], at * ids->nb[1])));
        }
    }
    std::vector<Tensor*> wanted = all;
    wanted.insert(wanted.end(), in_pieces.begin(), in_pieces.end());
    place(wanted);
    set_floats(*x, some_floats(k * n));
    std::vector<int32_t> sent;
    for (int32_t i = 0; i < n_used * n; ++i) {
        sent.push_back((i * 7 / 5 + i % n_used) % n_experts);
    }
    tensor_write(*ids, sent.data(), 0, sent.size() * sizeof(int32_t));
    compute();
    expect_alike(all, in_pieces);
}

/// Few columns of BF16 are multiplied in another way than many: each expert's number of them decides, not the node's.
TEST_P(SharedColumns, AreUsedByTheNumberOfEachExpertsTokens) {
    constexpr int64_t n_of[] = {81, 2, 1}, n = 84, n_experts = 3;
    Graph& g = small_.graph;
    Tensor* const x = g.input(Type::F32, {k, 1, n, 1});
    Tensor* const ids = g.input(Type::I32, {1, n, 1, 1});
    std::vector<Tensor*> all, in_pieces;
    for (const Type type : types) {
        Tensor* const experts = weights_.emplace_back(g.input(type, {k, n_rows_of_weights, n_experts, 1}));
        all.push_back(ops::mul_mat_id(g, experts, x, ids));
        size_t first = 0;
        for (size_t expert = 0; expert < n_experts; ++expert) {
            Tensor* const matrix = ops::view_2d(g, experts, k, n_rows_of_weights, experts->nb[1], expert * experts->nb[2]);
            in_pieces.push_back(ops::mul_mat(g, matrix, ops::view_2d(g, x, k, n_of[expert], x->nb[2], first * x->nb[2])));
            first += static_cast<size_t>(n_of[expert]);
        }
    }
    std::vector<Tensor*> wanted = all;
    wanted.insert(wanted.end(), in_pieces.begin(), in_pieces.end());
    place(wanted);
    set_floats(*x, some_floats(k * n));
    std::vector<int32_t> sent;
    for (int32_t expert = 0; expert < n_experts; ++expert) {
        sent.insert(sent.end(), static_cast<size_t>(n_of[expert]), expert);
    }
    tensor_write(*ids, sent.data(), 0, sent.size() * sizeof(int32_t));
    compute();
    expect_alike(all, in_pieces);
}

TEST_P(SharedColumns, AreRoundedAgainWhenTheirTensorWasWritten) {
    constexpr int64_t n = 100;
    Tensor *const w = weights(Type::Q8_0), *const x = columns(n), *const y = columns(n);
    Tensor *const before = ops::mul_mat(small_.graph, w, x), *const written = ops::cpy(small_.graph, y, x);
    Tensor *const behind = ops::mul_mat(small_.graph, w, x), *const of_y = ops::mul_mat(small_.graph, w, y);
    place({before, written, behind, of_y});
    set_floats(*x, some_floats(k * n));
    std::vector<float> others = some_floats(k * n + 7);
    others.erase(others.begin(), others.begin() + 7);
    set_floats(*y, others);
    compute();
    EXPECT_EQ(floats_of(*behind), floats_of(*of_y));
    EXPECT_NE(floats_of(*behind), floats_of(*before));
}

TEST_P(SharedColumns, AreRoundedAgainInEachRun) {
    constexpr int64_t n = 100;
    Tensor *const x = columns(n), *const product = ops::mul_mat(small_.graph, weights(Type::Q8_0), x);
    place({product});
    const std::unique_ptr<Backend> backend = device_->make_backend({GetParam(), true, {}});
    const std::vector<float> many = some_floats(k * n + 7);
    set_floats(*x, std::span(many).first(k * n));
    compute_all(*backend, split_);
    set_floats(*x, std::span(many).last(k * n));
    compute_all(*backend, split_);
    const std::vector<float> found = floats_of(*product);
    compute();
    EXPECT_EQ(found, floats_of(*product));
}

INSTANTIATE_TEST_SUITE_P(Threads, SharedColumns, ::testing::Values(1, 3));

} // namespace
} // namespace schedscope::test
