#include "tests/runtime/backend/order/fusion_sketch.h"

#include <gmock/gmock.h>

// What is found, brought together and refused; the kernels' results are tested in fused_kernels_test.cpp.
namespace schedscope::test {
namespace {

constexpr Shape wide{64, 3, 1, 1};
constexpr Shape row{64, 1, 1, 1};

class Fusion : public ::testing::Test, public FusionSketch {
protected:
    Tensor* x_ = f32(wide, "x");
    Tensor* w_ = f32(row, "w");

    Tensor* norm(const char* name = "norm") { return named(ops::rms_norm(graph, x_, 1e-5F), name); }
    Tensor* mul(Tensor* a, Tensor* b, const char* name = "mul") { return named(ops::mul(graph, a, b), name); }
    Tensor* add(Tensor* a, Tensor* b, const char* name = "add") { return named(ops::add(graph, a, b), name); }
    Tensor* mm(Tensor* x, const char* name = "mm", int64_t rows = 64, Type type = Type::F32) {
        return named(ops::mul_mat(graph, graph.input(type, {x->ne[0], rows, 1, 1}), x), name);
    }
    Tensor* act(Tensor* a, UnaryOp op = UnaryOp::GELU, const char* name = "act") { return named(ops::unary(graph, a, op), name); }
    Tensor* glu(Tensor* a, Tensor* b, GluOp op = GluOp::SWIGLU) { return named(ops::glu(graph, a, b, op), "glu"); }
    Tensor* again(Tensor* a) { return named(ops::scale(graph, a, 2.0F), "again"); }

    /// K turned and written into a cache, as attention does.
    struct Store {
        Tensor *rope, *rows, *set;
    };
    Store store(Tensor* k, Tensor* cache) {
        RopeParams p;
        p.n_dims = 16;
        Store s{};
        s.rope = named(ops::rope(graph, k, graph.input(Type::I32, {3, 1, 1, 1}), nullptr, p), "rope");
        s.rows = named(ops::view_2d(graph, s.rope, 64, 3, s.rope->nb[2], 0), "rows");
        s.set = named(ops::set_rows(graph, cache, s.rows, graph.input(Type::I64, {3, 1, 1, 1})), "set");
        return s;
    }
    Tensor* keys() { return f32({16, 4, 3, 1}, "k"); }
    Tensor* cache() { return graph.input(Type::F16, {64, 32, 1, 1}, "cache"); }
};

TEST_F(Fusion, FindsNormsWithTheirWeight) {
    find({mul(norm(), w_)});
    EXPECT_EQ(groups(), "rms_norm_mul(norm, mul)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, FindsNormsWithWeightAndBias) {
    find({add(mul(norm(), w_), f32(row))});
    EXPECT_EQ(groups(), "rms_norm_mul_add(norm, mul, add)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, FindsNormsAroundTheMean) {
    Tensor* plain = named(ops::norm(graph, x_, 1e-5F), "norm");
    Tensor* first = mul(plain, w_);
    Tensor* second = named(ops::norm(graph, first, 1e-5F), "norm2");
    find({add(mul(second, w_, "mul2"), f32(row))});
    EXPECT_EQ(groups(), "norm_mul(norm, mul) norm_mul_add(norm2, mul2, add)");
}
TEST_F(Fusion, FindsSums) {
    find({add(add(add(x_, f32(wide), "a"), f32(wide), "b"), f32(wide), "c")});
    EXPECT_EQ(groups(), "add_chain(a, b, c)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, EndsSumsAtEight) {
    Tensor* sum = x_;
    for (int i = 0; i < 11; ++i) {
        sum = add(sum, f32(wide), std::to_string(i).c_str());
    }
    find({sum});
    EXPECT_EQ(groups(), "add_chain(0, 1, 2, 3, 4, 5, 6, 7) add_chain(8, 9, 10)");
    EXPECT_EQ(apart(), "7, 8: another group");
}
TEST_F(Fusion, MakesSumsAsLongAsTheBackendTakes) {
    kernels.refused = fused::add_chain;
    kernels.refused_from = 3;
    kernels.why = "too many sources";
    find({add(add(add(x_, f32(wide), "a"), f32(wide), "b"), f32(wide), "c")});
    EXPECT_EQ(groups(), "add_chain(a, b)");
    EXPECT_EQ(apart(), "b, c: too many sources");
}
TEST_F(Fusion, FindsProductsWithABias) {
    find({add(mm(x_), w_)});
    EXPECT_EQ(groups(), "mul_mat_add(mm, add)");
}
TEST_F(Fusion, FindsProductsWithWhatTheyAreAddedTo) {
    find({add(x_, mm(f32(wide)))});
    EXPECT_EQ(groups(), "mul_mat_add(mm, add)");
}
TEST_F(Fusion, FindsProductsWithBiasAndFunction) {
    find({act(add(mm(x_), w_))});
    EXPECT_EQ(groups(), "mul_mat_add_act(mm, add, act)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, OfTwoProductsTakesTheNearer) {
    find({add(mm(x_, "first"), mm(f32(wide), "second"))});
    EXPECT_EQ(groups(), "mul_mat_add(second, add)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, OfTwoProductsTakesTheOneThatCanBe) {
    Tensor* second = mm(f32(wide), "second");
    find({add(mm(x_, "first"), second), again(second)});
    EXPECT_EQ(groups(), "mul_mat_add(first, add)");
    EXPECT_EQ(order(), "second first add again");
}
TEST_F(Fusion, FindsGatesInEitherOrder) {
    Tensor* up = mm(x_, "up");
    Tensor* gate = mm(x_, "gate");
    graph.expand(up);
    find({glu(gate, up)});
    EXPECT_EQ(groups(), "gate_up(up, gate, glu)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, FindsGatesInTheOtherOrder) {
    find({glu(mm(x_, "gate"), mm(x_, "up"), GluOp::GEGLU)});
    EXPECT_EQ(groups(), "gate_up(gate, up, glu)");
}
TEST_F(Fusion, FindsGatesOfTwoOperators) {
    find({mul(act(mm(x_, "gate"), UnaryOp::SILU), mm(x_, "up"))});
    EXPECT_EQ(groups(), "gate_up(gate, act, up, mul)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, FindsNoGateWithAFunctionThatHasNone) {
    find({mul(act(mm(x_, "gate"), UnaryOp::TANH), mm(x_, "up"))});
    EXPECT_EQ(groups() + apart(), "");
}
TEST_F(Fusion, FindsTurnedKeysAndTheirWayIntoTheCache) {
    find({store(keys(), cache()).set});
    EXPECT_EQ(groups(), "rope_set_rows(rope, rows, set)");
    EXPECT_EQ(apart(), "");
}
TEST_F(Fusion, KeepsNodesInOneGroupOnly) {
    find({add(add(mm(x_), w_), f32(wide), "sum")});
    EXPECT_EQ(groups(), "mul_mat_add(mm, add)");
    EXPECT_EQ(apart(), "add, sum: another group");
}
TEST_F(Fusion, PrefersTheLongerGroup) {
    find({add(add(add(mm(x_), w_, "a"), f32(wide), "b"), f32(wide), "c")});
    EXPECT_EQ(groups(), "add_chain(a, b, c)");
    EXPECT_EQ(apart(), "mm, a: another group");
}
TEST_F(Fusion, LooksOnlyForWhatTheBackendHas) {
    kernels.only = fused::norm_mul;
    find({mul(norm(), w_), add(mm(x_), w_)});
    EXPECT_EQ(groups() + apart(), "");
}
TEST_F(Fusion, SaysWhatTheBackendSays) {
    kernels.refused = fused::mul_mat_add;
    kernels.why = "batch too large";
    find({add(mm(x_), w_)});
    EXPECT_EQ(groups(), "");
    EXPECT_EQ(apart(), "mm, add: batch too large");
}

TEST_F(Fusion, BringsTogetherWhatOnlyASmallerBatchFuses) {
    kernels.refused = fused::gate_up;
    kernels.why = "batch too large";
    Tensor* gate = mm(x_, "gate");
    graph.expand(gate);
    graph.expand(again(x_));
    find({glu(gate, mm(x_, "up"))});
    EXPECT_EQ(groups(), "");
    EXPECT_EQ(apart(), "gate, glu: batch too large");
    EXPECT_EQ(order(), "again gate up glu");
}
TEST_F(Fusion, GivesNoPartOfALargeBatchsGroupToAnotherGroup) {
    kernels.refused = fused::mul_mat_add_act;
    kernels.why = "batch too large";
    find({act(add(mm(x_), w_))});
    EXPECT_EQ(groups(), "");
    EXPECT_EQ(apart(), "mm, act: batch too large");
}

// Bringing together.

TEST_F(Fusion, MovesWhatIsBetweenBeforeTheGroup) {
    Tensor* n = norm();
    graph.expand(n);
    graph.expand(again(x_));
    find({mul(n, w_)});
    EXPECT_EQ(order(), "again norm mul");
    EXPECT_EQ(groups(), "rms_norm_mul(norm, mul)");
}
TEST_F(Fusion, MovesWhatNeedsAMemberBehindTheGroup) {
    Tensor* up = mm(x_, "up");
    Tensor* other = mm(x_, "other");
    Tensor* sum = add(up, w_, "sum");
    graph.expand(up);
    graph.expand(other);
    find({sum, add(other, sum, "last")});
    EXPECT_EQ(groups(), "mul_mat_add(up, sum) mul_mat_add(other, last)");
    EXPECT_EQ(order(), "up sum other last");
}
TEST_F(Fusion, MovesGroupsAsOne) {
    Tensor* gate = mm(x_, "gate");
    graph.expand(gate);
    graph.expand(mul(norm(), w_));
    find({glu(gate, mm(x_, "up"))});
    EXPECT_EQ(order(), "norm mul gate up glu");
    EXPECT_EQ(groups(), "rms_norm_mul(norm, mul) gate_up(gate, up, glu)");
}
TEST_F(Fusion, LeavesApartWhatANodeBetweenNeeds) {
    // The bias of the product is made from what the store behind the product writes.
    Tensor* memory = f32({64, 4, 1, 1}, "memory");
    Tensor* product = named(ops::mul_mat(graph, f32({64, 64, 1, 1}), ops::view_2d(graph, memory, 64, 3, memory->nb[1], 0)), "mm");
    graph.expand(product);
    Tensor* written = named(ops::cpy(graph, f32({64, 4, 1, 1}), memory), "written");
    Tensor* bias = named(ops::view_1d(graph, written, 64, 0), "bias");
    find({add(product, bias)});
    EXPECT_EQ(groups(), "");
    EXPECT_EQ(apart(), "mm, add: order");
}
TEST_F(Fusion, LeavesApartWhatIsFarApart) {
    Tensor* product = mm(x_);
    graph.expand(product);
    for (int i = 0; i < 64; ++i) {
        graph.expand(again(x_));
    }
    find({add(product, w_)});
    EXPECT_EQ(apart(), "mm, add: too far apart");
}
TEST_F(Fusion, NeverMovesAReaderOfTheCacheBeforeTheWriter) {
    Tensor* c = cache();
    const Store s = store(keys(), c);
    graph.expand(s.rope);
    Tensor* before = named(ops::cont(graph, ops::view_2d(graph, c, 64, 8, c->nb[1], 0)), "before");
    graph.expand(before);
    graph.expand(s.set);
    find({named(ops::cont(graph, ops::view_2d(graph, c, 64, 8, c->nb[1], 0)), "behind")});
    EXPECT_EQ(groups(), "rope_set_rows(rope, rows, set)");
    const std::string text = order();
    EXPECT_LT(text.find("before"), text.find("set"));
    EXPECT_GT(text.find("behind"), text.find("set"));
}
TEST_F(Fusion, KeepsAReaderBetweenTwoWritersThere) {
    // The rows that are written are chosen by a node that reads what the first writer wrote.
    Tensor* c = f32({64, 32, 1, 1}, "cache");
    const Store s = store(keys(), c);
    graph.expand(s.rope);
    Tensor* earlier = named(ops::cpy(graph, f32({64, 32, 1, 1}), c), "earlier");
    graph.expand(earlier);
    graph.expand(named(ops::cont(graph, ops::view_2d(graph, c, 64, 8, c->nb[1], 0)), "reader"));
    find({s.set});
    EXPECT_EQ(groups(), "rope_set_rows(rope, rows, set)");
    const std::string text = order();
    EXPECT_LT(text.find("earlier"), text.find("reader"));
    EXPECT_LT(text.find("reader"), text.find("rope"));
}

// Why not.

TEST_F(Fusion, NeedsTheResultsInsideNowhereElse) {
    Tensor* n = norm();
    find({mul(n, w_), again(n)});
    EXPECT_EQ(apart(), "norm, mul: used elsewhere");
    EXPECT_EQ(groups(), "");
}
TEST_F(Fusion, TakesTheShorterGroupWhereTheLongerIsCutByAReader) {
    Tensor* m = mul(norm(), w_);
    find({add(m, f32(row)), again(m)});
    EXPECT_EQ(groups(), "rms_norm_mul(norm, mul)");
    EXPECT_EQ(apart(), "mul, add: used elsewhere");
}
TEST_F(Fusion, LeavesOutputsVisible) {
    Tensor* m = mm(x_);
    m->flags |= flag_output;
    find({add(m, w_)});
    EXPECT_EQ(apart(), "mm, add: output");
}
TEST_F(Fusion, MayEndWithAnOutput) {
    Tensor* sum = add(mm(x_), w_);
    sum->flags |= flag_output | flag_watched;
    find({sum});
    EXPECT_EQ(groups(), "mul_mat_add(mm, add)");
}
TEST_F(Fusion, LeavesWatchedResultsVisible) {
    Tensor* gate = mm(x_, "gate");
    gate->flags |= flag_watched;
    find({glu(gate, mm(x_, "up"))});
    EXPECT_EQ(apart(), "gate, glu: watched");
}
TEST_F(Fusion, LeavesOutputsInSumsVisible) {
    Tensor* a = add(x_, f32(wide), "a");
    a->flags |= flag_output;
    find({add(add(a, f32(wide), "b"), f32(wide), "c")});
    EXPECT_EQ(groups(), "add_chain(b, c)");
    EXPECT_EQ(apart(), "a, b: output");
}
TEST_F(Fusion, NeedsShapesThatFit) {
    find({mul(norm(), f32({1, 3, 1, 1}))});
    EXPECT_EQ(apart(), "norm, mul: shapes");
}
TEST_F(Fusion, NeedsABiasOfOneRowOrTheWholeShape) {
    find({add(mm(f32({64, 4, 2, 1})), f32({64, 4, 1, 1}))});
    EXPECT_EQ(apart(), "mm, add: shapes");
}
TEST_F(Fusion, NeedsAProductThatIsNotRepeated) {
    find({add(x_, mm(f32(row)))});
    EXPECT_EQ(apart(), "mm, add: shapes");
}
TEST_F(Fusion, NeedsGatesOfOneSource) {
    find({glu(mm(x_, "gate"), mm(f32(wide), "up"))});
    EXPECT_EQ(apart(), "gate, up: sources differ");
}
TEST_F(Fusion, NeedsTwoProductsForAGate) {
    Tensor* both = mm(x_, "both");
    find({glu(both, both)});
    EXPECT_EQ(apart(), "both, glu: used elsewhere");
}
TEST_F(Fusion, NeedsFloats) {
    find({mul(norm(), graph.input(Type::F16, row))});
    EXPECT_EQ(apart(), "norm, mul: types");
}
TEST_F(Fusion, NeedsABiasOfFloats) {
    find({act(add(mm(x_), graph.input(Type::F16, row)))});
    EXPECT_EQ(apart(), "mm, add: types");
}
TEST_F(Fusion, NeedsRowsThatLieSideBySide) {
    find({add(add(x_, f32(wide), "a"), ops::transpose(graph, f32({3, 64, 1, 1})), "b")});
    EXPECT_EQ(apart(), "a, b: layout");
}
TEST_F(Fusion, NeedsTheTurnedKeysOnlyInTheCache) {
    const Store s = store(keys(), cache());
    find({s.set, again(s.rope)});
    EXPECT_EQ(groups(), "");
    EXPECT_EQ(apart(), "rope, set: used elsewhere");
}
TEST_F(Fusion, NeedsTheViewOfTurnedKeysOnlyInTheCache) {
    const Store s = store(keys(), cache());
    find({s.set, again(s.rows)});
    EXPECT_EQ(apart(), "rope, set: used elsewhere");
}
TEST_F(Fusion, NeedsAllHeadsOfATokenInOneRow) {
    RopeParams p;
    p.n_dims = 16;
    Tensor* rope = named(ops::rope(graph, keys(), graph.input(Type::I32, {3, 1, 1, 1}), nullptr, p), "rope");
    Tensor* rows = ops::reshape(graph, rope, {32, 6, 1, 1});
    find({named(ops::set_rows(graph, f32({32, 32, 1, 1}), rows, graph.input(Type::I64, {6, 1, 1, 1})), "set")});
    EXPECT_EQ(apart(), "rope, set: shapes");
}

// Memory.

class FusionMemory : public Fusion {
protected:
    void SetUp() override { find({add(mm(x_), w_)}); }
    /// Gives tensors places in one made-up buffer; nothing is read or written.
    static void put(Tensor* t, size_t offset) {
        t->buffer = reinterpret_cast<Buffer*>(8);
        t->offset = offset;
    }
    void spread() {
        size_t offset = 0;
        for (Tensor* t : graph.tensors()) {
            put(t, offset);
            offset += 1 << 20U;
        }
    }
    Tensor* result() { return split.nodes.back(); }
};

TEST_F(FusionMemory, IsSafeWithoutOverlap) {
    spread();
    EXPECT_TRUE(group_is_safe(split.nodes));
}
TEST_F(FusionMemory, IsNotSafeWhereTheResultOverwritesAProductsSource) {
    spread();
    put(result(), x_->offset);
    EXPECT_FALSE(group_is_safe(split.nodes));
}
TEST_F(FusionMemory, IsNotSafeWhereTheResultOverwritesARowThatIsRepeated) {
    spread();
    put(result(), w_->offset);
    EXPECT_FALSE(group_is_safe(split.nodes));
}
TEST_F(FusionMemory, IsSafeInPlaceOfWhatIsAddedElementByElement) {
    FusionSketch other;
    Tensor* residual = other.f32(wide);
    other.find({ops::add(other.graph, residual, ops::mul_mat(other.graph, other.f32({64, 64, 1, 1}), other.f32(wide)))});
    size_t offset = 0;
    for (Tensor* t : other.graph.tensors()) {
        put(t, offset += 1 << 20U);
    }
    put(other.split.nodes.back(), residual->offset);
    EXPECT_TRUE(group_is_safe(other.split.nodes));
    put(other.split.nodes.back(), residual->offset + 4);
    EXPECT_FALSE(group_is_safe(other.split.nodes));
}
TEST_F(FusionMemory, WhatTheMembersMakeMayLieAnywhere) {
    spread();
    put(split.nodes.front(), x_->offset);
    EXPECT_TRUE(group_is_safe(split.nodes));
}

} // namespace
} // namespace schedscope::test
