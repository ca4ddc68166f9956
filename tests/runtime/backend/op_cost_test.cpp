#include "runtime/backend/op_cost.h"
#include "runtime/tensor/ops.h"

#include <gtest/gtest.h>

#include <vector>

namespace schedscope {
namespace {

class OpCost : public ::testing::Test {
protected:
    static int64_t bytes(std::vector<Tensor*> nodes) { return op_bytes(nodes); }
    Tensor* f32(const Shape& ne) { return g_.input(Type::F32, ne); }
    Graph g_;
};

TEST_F(OpCost, ProductsCountMultipliesAndAdds) {
    Tensor* product = ops::mul_mat(g_, g_.input(Type::Q8_0, {64, 10, 1, 1}), f32({64, 3, 1, 1}));
    EXPECT_EQ(op_flops(*product), 2 * 64 * 10 * 3);
    EXPECT_EQ(bytes({product}), 10 * 68 + 64 * 3 * 4 + 10 * 3 * 4);
}

TEST_F(OpCost, ExpertsCountAsFarAsTokensMayUseThem) {
    Tensor* experts = f32({16, 8, 10, 1});
    Tensor* product = ops::mul_mat_id(g_, experts, f32({16, 1, 3, 1}), g_.input(Type::I32, {2, 3, 1, 1}));
    EXPECT_EQ(op_flops(*product), 2 * 16 * 8 * 2 * 3);
    EXPECT_EQ(bytes({product}), 6 * 16 * 8 * 4 + 16 * 3 * 4 + 6 * 4 + 8 * 2 * 3 * 4);
    Tensor* many = ops::mul_mat_id(g_, experts, f32({16, 1, 100, 1}), g_.input(Type::I32, {2, 100, 1, 1}));
    EXPECT_EQ(bytes({many}), 10 * 16 * 8 * 4 + 16 * 100 * 4 + 200 * 4 + 8 * 200 * 4);
}

TEST_F(OpCost, AttentionCountsScoresAndWeightedValues) {
    Tensor* k = g_.input(Type::F16, {32, 20, 2, 1});
    Tensor* v = g_.input(Type::F16, {48, 20, 2, 1});
    Tensor* attention = ops::flash_attn(g_, f32({32, 3, 4, 1}), k, v, nullptr, 1, 0, 0);
    EXPECT_EQ(op_flops(*attention), 3 * 4 * 20 * (2 * 32 + 2 * 48));
}

TEST_F(OpCost, MovingDataComputesNothing) {
    Tensor* a = f32({8, 4, 1, 1});
    for (const Tensor* t : {a, ops::transpose(g_, a), ops::cont(g_, a), ops::dup(g_, a), ops::repeat(g_, a, {16, 4, 1, 1}),
                            ops::cast(g_, a, Type::F16)}) {
        EXPECT_EQ(op_flops(*t), 0) << op_name(t->op);
    }
}

TEST_F(OpCost, ARowLookupReadsTheRowsItReturns) {
    Tensor* rows = ops::get_rows(g_, g_.input(Type::F16, {64, 1000, 1, 1}), g_.input(Type::I32, {5, 1, 1, 1}));
    EXPECT_EQ(bytes({rows}), 5 * 64 * 2 + 5 * 4 + 5 * 64 * 4);
}

TEST_F(OpCost, SettingRowsWritesThoseRows) {
    Tensor* cache = g_.input(Type::F16, {64, 1000, 1, 1});
    Tensor* set = ops::set_rows(g_, cache, f32({64, 5, 1, 1}), g_.input(Type::I64, {5, 1, 1, 1}));
    EXPECT_EQ(bytes({set}), 5 * 64 * 4 + 5 * 8 + 5 * 64 * 2);
}

TEST_F(OpCost, ACastReadsItsSourceOnce) {
    Tensor* cast = ops::cast(g_, f32({8, 4, 1, 1}), Type::F16);
    EXPECT_EQ(bytes({cast}), 32 * 4 + 32 * 2);
}

TEST_F(OpCost, WhatStaysInsideAFusedKernelIsNotMoved) {
    Tensor* norm = ops::rms_norm(g_, f32({64, 5, 1, 1}), 1e-5F);
    Tensor* product = ops::mul(g_, norm, f32({64, 1, 1, 1}));
    EXPECT_EQ(bytes({norm, product}), 64 * 5 * 4 + 64 * 4 + 64 * 5 * 4);
    EXPECT_EQ(bytes({norm}) + bytes({product}), bytes({norm, product}) + 2 * 64 * 5 * 4);
    EXPECT_EQ(op_flops(*norm), 4 * 64 * 5);
    EXPECT_EQ(op_flops(*product), 64 * 5);
}

TEST_F(OpCost, ReductionsCountWhatTheyRead) {
    Tensor* a = f32({64, 5, 1, 1});
    EXPECT_EQ(op_flops(*ops::sum_rows(g_, a)), 320);
    EXPECT_EQ(op_flops(*ops::argmax(g_, a)), 320);
    EXPECT_EQ(bytes({ops::sum(g_, a)}), 320 * 4 + 4);
}

TEST_F(OpCost, AGatesProductsReadTheirSourceOnceAndWriteNothing) {
    Tensor* x = f32({64, 3, 1, 1});
    Tensor* gate = ops::mul_mat(g_, f32({64, 10, 1, 1}), x);
    Tensor* up = ops::mul_mat(g_, f32({64, 10, 1, 1}), x);
    Tensor* gated = ops::glu(g_, gate, up, GluOp::SWIGLU);
    EXPECT_EQ(bytes({gate, up, gated}), 2 * 64 * 10 * 4 + 64 * 3 * 4 + 10 * 3 * 4);
}

TEST_F(OpCost, AProductsBiasIsReadAndOnlyTheSumWritten) {
    Tensor* product = ops::mul_mat(g_, f32({64, 10, 1, 1}), f32({64, 3, 1, 1}));
    Tensor* sum = ops::add(g_, product, f32({10, 1, 1, 1}));
    EXPECT_EQ(bytes({product, sum}), 64 * 10 * 4 + 64 * 3 * 4 + 10 * 4 + 10 * 3 * 4);
}

TEST_F(OpCost, TurnedKeysAreReadOnceAndWrittenIntoTheCacheOnly) {
    RopeParams p;
    p.n_dims = 16;
    Tensor* rope = ops::rope(g_, f32({16, 4, 5, 1}), g_.input(Type::I32, {5, 1, 1, 1}), nullptr, p);
    Tensor* rows = ops::view_2d(g_, rope, 64, 5, rope->nb[2], 0);
    Tensor* set = ops::set_rows(g_, g_.input(Type::F16, {64, 1000, 1, 1}), rows, g_.input(Type::I64, {5, 1, 1, 1}));
    EXPECT_EQ(bytes({rope, rows, set}), 5 * 64 * 4 + 5 * 4 + 5 * 8 + 5 * 64 * 2);
}

} // namespace
} // namespace schedscope
