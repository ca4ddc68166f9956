#include "runtime/tensor/ops.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

TEST(Types, NamesAndSizesAreGgmls) {
    EXPECT_EQ(type_name(Type::F32), "f32");
    EXPECT_EQ(type_name(Type::Q4_K), "q4_K");
    EXPECT_EQ(type_name(Type::IQ4_XS), "iq4_xs");
    EXPECT_EQ(row_bytes(Type::F16, 10), 20U);
    EXPECT_EQ(row_bytes(Type::Q8_0, 64), 68U);
    EXPECT_EQ(row_bytes(Type::Q6_K, 512), 420U);
    EXPECT_EQ(type_name(Type::MXFP4), "mxfp4");
    EXPECT_EQ(type_name(Type::TQ1_0), "tq1_0");
    EXPECT_EQ(type_name(Type::IQ2_XXS), "iq2_xxs");
    EXPECT_EQ(row_bytes(Type::MXFP4, 96), 51U);
    EXPECT_EQ(row_bytes(Type::TQ1_0, 256), 54U);
    EXPECT_EQ(row_bytes(Type::TQ2_0, 256), 66U);
    EXPECT_EQ(row_bytes(Type::IQ1_S, 256), 50U);
    EXPECT_EQ(row_bytes(Type::IQ1_M, 256), 56U);
    EXPECT_EQ(row_bytes(Type::IQ2_XXS, 256), 66U);
    EXPECT_EQ(row_bytes(Type::IQ2_XS, 256), 74U);
    EXPECT_EQ(row_bytes(Type::IQ2_S, 256), 82U);
    EXPECT_EQ(row_bytes(Type::IQ3_XXS, 256), 98U);
    EXPECT_EQ(row_bytes(Type::IQ3_S, 256), 110U);
}

TEST(Types, AreFoundInAnyCase) {
    EXPECT_EQ(type_from_name("Q4_k"), Type::Q4_K);
    EXPECT_EQ(type_from_name("BF16"), Type::BF16);
    EXPECT_FALSE(type_from_name("q4"));
    EXPECT_FALSE(type_from_name(""));
}

TEST(Ops, DescribeThemselvesByTheirOwnName) {
    EXPECT_EQ(op_description(Op::MUL_MAT, 0), "MUL_MAT");
    EXPECT_EQ(op_description(Op::UNARY, static_cast<int32_t>(UnaryOp::SILU)), "SILU");
    EXPECT_EQ(op_description(Op::UNARY, 16), "GELU_ERF");
    EXPECT_EQ(op_description(Op::GLU, 2), "SWIGLU");
    EXPECT_EQ(op_description(Op::GLU, 77), "?");
    EXPECT_EQ(op_from_name("FLASH_ATTN_EXT"), Op::FLASH_ATTN_EXT);
    EXPECT_FALSE(op_from_name("flash_attn_ext"));
}

TEST(Layout, ContiguousStridesCountBlocks) {
    EXPECT_EQ(contiguous_strides(Type::F32, {3, 5, 7, 2}), (Strides{4, 12, 60, 420}));
    EXPECT_EQ(contiguous_strides(Type::Q4_0, {64, 5, 1, 1}), (Strides{18, 36, 180, 180}));
}

TEST(Layout, BytesReachFromFirstToLastElement) {
    EXPECT_EQ(n_bytes(Type::F32, {3, 5, 1, 1}, {4, 12, 60, 60}), 60U);
    EXPECT_EQ(n_bytes(Type::F32, {3, 5, 1, 1}, {4, 100, 500, 500}), 412U); // 4 rows apart, and 3 elements
    EXPECT_EQ(n_bytes(Type::F32, {5, 3, 1, 1}, {12, 4, 60, 60}), 60U);     // transposed
    EXPECT_EQ(n_bytes(Type::Q8_0, {64, 2, 1, 1}, {34, 68, 136, 136}), 136U);
}

TEST(Layout, ShapesAreWrittenWithoutTrailingOnes) {
    EXPECT_EQ(shape_text({64, 16, 1, 1}), "[64, 16]");
    EXPECT_EQ(shape_text({1, 1, 1, 1}), "[1]");
    EXPECT_EQ(shape_text({1, 1, 3, 1}), "[1, 1, 3]");
}

TEST(Layout, ContiguityOfViews) {
    Graph g;
    Tensor* a = g.make(Type::F32, {8, 4, 3, 2});
    Tensor* rows = ops::view_4d(g, a, 4, 4, 3, 2, a->nb[1], a->nb[2], a->nb[3], 0);
    Tensor* blocks = ops::view_4d(g, a, 8, 2, 3, 2, a->nb[1], a->nb[2], a->nb[3], 0);
    Tensor* flipped = ops::transpose(g, a);
    Tensor* heads = ops::permute(g, a, 0, 2, 1, 3);

    EXPECT_TRUE(is_contiguous(*a));
    EXPECT_FALSE(is_contiguous(*rows));
    EXPECT_TRUE(is_contiguous_above(*rows, 1)); // gaps between rows alone
    EXPECT_FALSE(is_contiguous_above(*blocks, 1));
    EXPECT_TRUE(is_contiguous_above(*blocks, 2));
    EXPECT_TRUE(has_contiguous_rows(*rows));
    EXPECT_FALSE(has_contiguous_rows(*flipped));
    EXPECT_TRUE(is_transposed(*flipped));
    EXPECT_FALSE(is_transposed(*heads));
}

TEST(Layout, TheStrideOfASingleElementDoesNotMatter) {
    Graph g;
    Tensor* a = g.make(Type::F32, {8, 1, 4, 1});
    a->nb[1] = 12345;
    EXPECT_TRUE(is_contiguous(*a));
    a->nb[2] = 12345;
    EXPECT_FALSE(is_contiguous(*a));
}

TEST(Layout, RepeatingNeedsWholeMultiples) {
    Graph g;
    Tensor* a = g.make(Type::F32, {6, 4, 2, 1});
    EXPECT_TRUE(can_repeat(*g.make(Type::F32, {6, 1, 1, 1}), *a));
    EXPECT_TRUE(can_repeat(*g.make(Type::F32, {3, 2, 2, 1}), *a));
    EXPECT_FALSE(can_repeat(*g.make(Type::F32, {4, 1, 1, 1}), *a));
    EXPECT_FALSE(can_repeat(*a, *g.make(Type::F32, {6, 1, 1, 1})));
}

} // namespace
} // namespace schedscope
