#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/device.h"
#include "runtime/tensor/ops.h"

#include <gtest/gtest.h>

#include <ostream>

namespace schedscope {

static void PrintTo(const Answer& a, std::ostream* out) {
    *out << (a.yes ? std::string("yes") : std::string(refusal_name(a.reason)) + ": " + std::string(a.detail));
}

namespace {

class CpuSupports : public ::testing::Test {
protected:
    Answer answer(const Tensor* node) const { return device_->supports_op(*node); }
    void refuses(const Tensor* node, Refusal reason) const {
        const Answer a = answer(node);
        EXPECT_FALSE(a.yes);
        EXPECT_EQ(a.reason, reason) << ::testing::PrintToString(a);
        EXPECT_FALSE(a.detail.empty());
    }
    Tensor* leaf(Type type, const Shape& ne) { return g_.input(type, ne); }

    Graph g_;
    std::unique_ptr<Device> device_ = make_cpu_device();
};

TEST_F(CpuSupports, LeafsAndViews) {
    Tensor* a = leaf(Type::Q3_K, {256, 4, 1, 1});
    EXPECT_TRUE(answer(a).yes);
    EXPECT_TRUE(answer(ops::view_1d(g_, a, 256, 0)).yes);
    EXPECT_TRUE(answer(ops::reshape(g_, a, {256, 2, 2, 1})).yes);
    EXPECT_TRUE(answer(ops::permute(g_, a, 0, 2, 1, 3)).yes);
}

TEST_F(CpuSupports, RefusesOperatorsWithoutKernel) {
    Tensor* node = ops::sqr(g_, leaf(Type::F32, {4, 1, 1, 1}));
    node->op = Op::SSM_SCAN;
    refuses(node, Refusal::op);
}

TEST_F(CpuSupports, RefusesFunctionsAndGatesThatNeedMoreParameters) {
    refuses(ops::unary(g_, leaf(Type::F32, {4, 1, 1, 1}), UnaryOp::XIELU), Refusal::op);
    refuses(ops::glu(g_, leaf(Type::F32, {4, 1, 1, 1}), nullptr, GluOp::SWIGLU_OAI), Refusal::op);
}

TEST_F(CpuSupports, RefusesWeightsThatAreNotNumbersOfItsTypes) {
    Tensor* product = ops::mul_mat(g_, leaf(Type::F32, {32, 4, 1, 1}), leaf(Type::F32, {32, 2, 1, 1}));
    product->src[0] = leaf(Type::F64, {32, 4, 1, 1});
    refuses(product, Refusal::type);
    product->src[0] = leaf(Type::F32, {32, 4, 1, 1});
    product->src[1] = leaf(Type::Q8_0, {32, 2, 1, 1});
    refuses(product, Refusal::type);
}

TEST_F(CpuSupports, RefusesWeightsWhoseRowsAreScattered) {
    Tensor* weights = ops::permute(g_, leaf(Type::F32, {4, 32, 2, 1}), 1, 2, 0, 3);
    ASSERT_FALSE(has_contiguous_rows(*weights));
    Tensor* product = ops::mul_mat(g_, leaf(Type::F32, {weights->ne[0], weights->ne[1], weights->ne[2], 1}),
                                   leaf(Type::F32, {weights->ne[0], 2, weights->ne[2], 1}));
    product->src[0] = weights;
    refuses(product, Refusal::layout);
}

TEST_F(CpuSupports, RefusesCopiesThatBlocksDoNotAllow) {
    Tensor* blocks = leaf(Type::Q4_0, {64, 4, 1, 1});
    refuses(ops::cpy(g_, blocks, leaf(Type::F32, {32, 8, 1, 1})), Refusal::shape);
    refuses(ops::cpy(g_, blocks, leaf(Type::Q4_0, {32, 8, 1, 1})), Refusal::layout);
    refuses(ops::cpy(g_, leaf(Type::I32, {8, 1, 1, 1}), leaf(Type::F32, {8, 1, 1, 1})), Refusal::type);
    refuses(ops::cpy(g_, leaf(Type::F32, {8, 1, 1, 1}), leaf(Type::I32, {8, 1, 1, 1})), Refusal::type);
}

TEST_F(CpuSupports, RefusesToTakeBlocksApart) {
    refuses(ops::repeat(g_, leaf(Type::Q8_0, {32, 1, 1, 1}), {32, 2, 1, 1}), Refusal::type);
    refuses(ops::concat(g_, leaf(Type::Q8_0, {32, 1, 1, 1}), leaf(Type::Q8_0, {32, 1, 1, 1}), 1), Refusal::type);
}

TEST_F(CpuSupports, RefusesHalfPrecisionWhereKernelsWriteFloats) {
    refuses(ops::soft_max(g_, leaf(Type::F16, {8, 1, 1, 1}), nullptr, 1, 0), Refusal::type);
    refuses(ops::group_norm(g_, leaf(Type::F16, {8, 1, 2, 1}), 2, 1e-5F), Refusal::type);
    refuses(ops::pool_2d(g_, leaf(Type::F16, {8, 8, 1, 1}), Pool::max, 2, 2, 2, 2, 0, 0), Refusal::type);
    refuses(ops::pad(g_, leaf(Type::F16, {8, 8, 1, 1}), {1, 0, 0, 0}), Refusal::type);
}

TEST_F(CpuSupports, RefusesKeysWhoseRowsAreScattered) {
    Tensor* q = leaf(Type::F32, {16, 2, 4, 1});
    Tensor* k = ops::permute(g_, leaf(Type::F16, {2, 16, 4, 5}), 1, 0, 2, 3);
    Tensor* attention = ops::flash_attn(g_, q, leaf(Type::F16, {16, 8, 4, 1}), leaf(Type::F16, {16, 8, 4, 1}), nullptr, 1, 0, 0);
    ASSERT_TRUE(answer(attention).yes);
    attention->src[1] = k;
    refuses(attention, Refusal::layout);
}

TEST_F(CpuSupports, WantsNoWeightsCopiedOverAndTakesHostMemoryOnly) {
    const Tensor* product = ops::mul_mat(g_, leaf(Type::F32, {32, 4, 1, 1}), leaf(Type::F32, {32, 512, 1, 1}));
    EXPECT_FALSE(device_->wants_offload(*product, 32));
    EXPECT_TRUE(device_->supports_buffer_type(device_->buffer_type()));
}

TEST(OffloadBatch, CountsTokensByOperator) {
    Graph g;
    Tensor* weights = g.input(Type::F32, {32, 7, 3, 1});
    EXPECT_EQ(offload_batch(*ops::mul_mat(g, weights, g.input(Type::F32, {32, 5, 3, 2}))), 5);
    EXPECT_EQ(offload_batch(*ops::mul_mat_id(g, weights, g.input(Type::F32, {32, 1, 9, 1}), g.input(Type::I32, {2, 9, 1, 1}))),
              9);
    RopeParams rope;
    rope.n_dims = 32;
    EXPECT_EQ(offload_batch(*ops::rope(g, g.input(Type::F32, {32, 4, 6, 1}), g.input(Type::I32, {6, 1, 1, 1}), nullptr, rope)),
              6);
    EXPECT_EQ(offload_batch(*ops::get_rows(g, g.input(Type::F32, {32, 40, 1, 1}), g.input(Type::I32, {8, 1, 1, 1}))), 0);
    EXPECT_EQ(offload_batch(*ops::add(g, g.input(Type::F32, {32, 3, 2, 5}), g.input(Type::F32, {32, 1, 1, 1}))), 30);
}

} // namespace
} // namespace schedscope
