// The order and the names that ggml gives to a graph's tensors.
#include "runtime/error.h"
#include "runtime/tensor/ops.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(std::span<Tensor* const> tensors) {
    std::vector<std::string> result;
    for (const Tensor* t : tensors) {
        result.push_back(t->name);
    }
    return result;
}

TEST(Graph, WalksSourcesDepthFirstAndTheFirstSourceFirst) {
    Graph g;
    Tensor* a = g.make(Type::F32, {4, 1, 1, 1}, "a");
    Tensor* b = g.make(Type::F32, {4, 1, 1, 1}, "b");
    Tensor* c = g.make(Type::F32, {4, 1, 1, 1}, "c");
    Tensor* left = ops::add(g, b, c);
    Tensor* right = ops::mul(g, a, b);
    g.expand(ops::sub(g, left, right));
    EXPECT_THAT(names(g.leafs()), ElementsAre("b", "c", "a"));
    EXPECT_THAT(g.nodes(), ElementsAre(left, right, ::testing::_));
}

TEST(Graph, NamesWhatHasNoNameByItsPlaceInItsList) {
    Graph g;
    Tensor* a = g.make(Type::F32, {4, 1, 1, 1});
    Tensor* b = g.make(Type::F32, {4, 1, 1, 1}, "b");
    Tensor* c = g.make(Type::F32, {4, 1, 1, 1});
    Tensor* sum = ops::add(g, a, b);
    sum->name = "sum";
    g.expand(ops::sqr(g, ops::add(g, sum, c)));
    EXPECT_THAT(names(g.leafs()), ElementsAre("leaf_0", "b", "leaf_2"));
    EXPECT_THAT(names(g.nodes()), ElementsAre("sum", "node_1", "node_2"));
}

TEST(Graph, ListsATensorOnceHoweverOftenItIsWanted) {
    Graph g;
    Tensor* a = g.make(Type::F32, {4, 1, 1, 1}, "a");
    Tensor* s = ops::sqr(g, a);
    g.expand(s);
    g.expand(ops::add(g, s, s));
    g.expand(s);
    EXPECT_EQ(g.nodes().size(), 2U);
    EXPECT_EQ(g.leafs().size(), 1U);
}

TEST(Graph, AParameterIsANode) {
    Graph g;
    Tensor* w = g.make(Type::F32, {4, 1, 1, 1}, "w");
    w->flags |= flag_param;
    g.expand(ops::sqr(g, w));
    EXPECT_THAT(names(g.nodes()), ElementsAre("w", "node_1"));
    EXPECT_TRUE(g.leafs().empty());
}

TEST(Graph, ADeepChainDoesNotNeedADeepStack) {
    Graph g;
    Tensor* t = g.make(Type::F32, {1, 1, 1, 1}, "x");
    for (int i = 0; i < 500'000; ++i) {
        t = ops::sqr(g, t);
    }
    g.expand(t);
    EXPECT_EQ(g.nodes().size(), 500'000U);
}

TEST(Graph, NumbersLeafsThenNodesThenRootsThatOnlyViewsKnow) {
    Graph g;
    Tensor* hidden = g.make(Type::F32, {4, 1, 1, 1}, "hidden");
    Tensor* a = g.make(Type::F32, {4, 1, 1, 1}, "a");
    a->view_source = hidden;
    Tensor* s = ops::sqr(g, a);
    g.expand(s);
    EXPECT_THAT(g.number(), ElementsAre(a, s, hidden));
    EXPECT_EQ(a->id, 0);
    EXPECT_EQ(s->id, 1);
    EXPECT_EQ(hidden->id, 2);
}

TEST(Graph, NumbersAgainAfterAnotherGraphHasNumberedSharedWeights) {
    TensorStore weights;
    Tensor* w0 = weights.make(Type::F32, {4, 1, 1, 1}, "w0");
    Tensor* w1 = weights.make(Type::F32, {4, 1, 1, 1}, "w1");
    Graph first;
    Graph second;
    first.expand(ops::add(first, w0, w1));
    second.expand(ops::add(second, w1, w0));
    first.number();
    second.number();
    EXPECT_EQ(w0->id, 1);
    first.number();
    EXPECT_EQ(w0->id, 0);
    EXPECT_EQ(w1->id, 1);
}

TEST(Names, ViewsAreNamedAfterWhatTheyView) {
    Graph g;
    Tensor* v = g.make(Type::F32, {64, 16, 1, 1}, "Vcur-0");
    Tensor* cache = g.make(Type::F16, {64, 256, 1, 1}, "cache_k_l0");
    Tensor* view = ops::view_2d(g, cache, 64, 16, cache->nb[1], 0);
    EXPECT_EQ(ops::reshape(g, v, {8, 8, 16, 1})->name, "Vcur-0 (reshaped)");
    EXPECT_EQ(ops::permute(g, view, 0, 2, 1, 3)->name, "cache_k_l0 (view) (permuted)");
    EXPECT_EQ(ops::transpose(g, v)->name, "Vcur-0 (transposed)");
    EXPECT_EQ(ops::cont(g, v)->name, "Vcur-0 (cont)");
    EXPECT_EQ(ops::cast(g, v, Type::F16)->name, "Vcur-0 (copy)");
    EXPECT_EQ(ops::cpy(g, v, ops::view_2d(g, cache, 64, 16, cache->nb[1], 0))->name, "cache_k_l0 (view) (copy of Vcur-0)");
    EXPECT_EQ(ops::cpy(g, v, g.make(Type::F16, {64, 16, 1, 1}))->name, "Vcur-0 (copy)");
    EXPECT_EQ(ops::clamp(g, v, 0, 1)->name, "Vcur-0 (view)");
    EXPECT_EQ(ops::add(g, v, v)->name, "");
}

TEST(Names, AreCutAt63Bytes) {
    Graph g;
    const std::string sixty(60, 'x');
    Tensor* t = g.make(Type::F32, {4, 1, 1, 1}, sixty);
    EXPECT_EQ(ops::view_1d(g, t, 4, 0)->name, sixty + " (v");
    EXPECT_EQ(g.make(Type::F32, {1, 1, 1, 1}, std::string(100, 'y'))->name.size(), 63U);
}

TEST(Views, PointToTheRoot) {
    Graph g;
    Tensor* root = g.make(Type::F32, {8, 8, 1, 1}, "root");
    Tensor* lower = ops::view_2d(g, root, 8, 4, root->nb[1], 4 * root->nb[1]);
    Tensor* one = ops::view_1d(g, lower, 8, lower->nb[1]);
    Tensor* flat = ops::reshape(g, one, {4, 2, 1, 1});
    EXPECT_EQ(one->src[0], lower);
    for (const Tensor* t : {one, flat}) {
        EXPECT_EQ(t->view_source, root);
        EXPECT_EQ(t->view_offset, 5 * root->nb[1]);
    }
    int64_t offset = 0;
    std::memcpy(&offset, one->params.data(), sizeof offset);
    EXPECT_EQ(offset, 32); // its own, as ggml stores it
}

TEST(Views, WhatWritesIntoATensorIsAViewOfIt) {
    Graph g;
    Tensor* cache = g.make(Type::F16, {8, 32, 1, 1}, "cache");
    Tensor* rows = g.make(Type::F32, {8, 3, 1, 1}, "rows");
    Tensor* ids = g.make(Type::I64, {3, 1, 1, 1}, "ids");
    Tensor* set = ops::set_rows(g, cache, rows, ids);
    EXPECT_EQ(set->name, "cache (view)");
    EXPECT_THAT(set->src, ElementsAre(rows, ids, cache, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(set->view_source, cache);
    EXPECT_EQ(set->type, Type::F16);
    Tensor* copy = ops::cpy(g, rows, ops::view_2d(g, cache, 8, 3, cache->nb[1], cache->nb[1]));
    EXPECT_EQ(copy->view_source, cache);
    EXPECT_EQ(copy->view_offset, 16U);
    Tensor* cast = ops::cast(g, rows, Type::F16);
    EXPECT_EQ(cast->src[1], cast);
    EXPECT_EQ(cast->view_source, nullptr);
    g.expand(cast); // a tensor among its own sources ends the walk
    EXPECT_EQ(g.nodes().size(), 1U);
}

TEST(Store, RefusesImpossibleShapes) {
    TensorStore store;
    EXPECT_THROW(store.make(Type::F32, {0, 1, 1, 1}), Error);
    EXPECT_THROW(store.make(Type::F32, {4, -1, 1, 1}), Error);
    EXPECT_THROW(store.make(Type::F32, {int64_t{1} << 40, int64_t{1} << 30, 1, 1}), Error);
    EXPECT_THROW(store.make(Type::Q8_0, {33, 1, 1, 1}), Error);
    EXPECT_THROW(store.make(Type::Q4_K, {32, 1, 1, 1}), Error);
    EXPECT_TRUE(store.tensors().empty());
}

} // namespace
} // namespace schedscope
