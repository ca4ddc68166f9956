// What each operator makes of its sources: shape, type, parameters.
#include "runtime/tensor/ops.h"

#include <gtest/gtest.h>

#include <bit>

namespace schedscope {
namespace {

/// A parameter by ggml's number.
float number(const Tensor& t, size_t i) { return std::bit_cast<float>(t.params[i]); }

class ShapeRules : public ::testing::Test {
protected:
    Tensor* f32(const Shape& ne) { return g.make(Type::F32, ne); }
    Tensor* f16(const Shape& ne) { return g.make(Type::F16, ne); }
    Tensor* i32(const Shape& ne) { return g.make(Type::I32, ne); }
    static void expect(const Tensor* t, Op op, Type type, const Shape& ne) {
        EXPECT_EQ(op_name(t->op), op_name(op));
        EXPECT_EQ(type_name(t->type), type_name(type));
        EXPECT_EQ(shape_text(t->ne), shape_text(ne));
        if (t->view_source == nullptr) {
            EXPECT_EQ(t->nb, contiguous_strides(type, ne));
        }
    }
    Graph g;
};

TEST_F(ShapeRules, ElementWise) {
    expect(ops::add(g, f32({4, 3, 2, 1}), f32({4, 1, 1, 1})), Op::ADD, Type::F32, {4, 3, 2, 1});
    expect(ops::mul(g, f16({4, 3, 1, 1}), f32({1, 1, 1, 1})), Op::MUL, Type::F16, {4, 3, 1, 1});
    expect(ops::add_id(g, f32({4, 2, 3, 1}), f32({4, 8, 1, 1}), i32({2, 3, 1, 1})), Op::ADD_ID, Type::F32, {4, 2, 3, 1});
    const Tensor* scaled = ops::scale(g, f32({4, 3, 1, 1}), 0.5F, -1.0F);
    EXPECT_EQ(number(*scaled, 0), 0.5F);
    EXPECT_EQ(number(*scaled, 1), -1.0F);
    expect(ops::unary(g, f32({4, 3, 1, 1}), UnaryOp::SILU), Op::UNARY, Type::F32, {4, 3, 1, 1});
    EXPECT_EQ(ops::unary(g, f32({4, 1, 1, 1}), UnaryOp::SILU)->params[0], 10);
    expect(ops::clamp(g, f32({4, 3, 1, 1}), 0, 1), Op::CLAMP, Type::F32, {4, 3, 1, 1});
}

TEST_F(ShapeRules, GatedUnits) {
    expect(ops::glu(g, f32({8, 3, 1, 1}), f32({8, 3, 1, 1}), GluOp::SWIGLU), Op::GLU, Type::F32, {8, 3, 1, 1});
    const Tensor* halves = ops::glu(g, f32({8, 3, 1, 1}), nullptr, GluOp::GEGLU, true);
    expect(halves, Op::GLU, Type::F32, {4, 3, 1, 1});
    EXPECT_EQ(halves->params[0], 1);
    EXPECT_EQ(halves->params[1], 1);
}

TEST_F(ShapeRules, Norms) {
    const Tensor* t = ops::rms_norm(g, f32({8, 3, 1, 1}), 1e-5F);
    expect(t, Op::RMS_NORM, Type::F32, {8, 3, 1, 1});
    EXPECT_EQ(number(*t, 0), 1e-5F);
    const Tensor* grouped = ops::group_norm(g, f32({8, 8, 32, 1}), 4, 1e-6F);
    EXPECT_EQ(grouped->params[0], 4);
    EXPECT_EQ(number(*grouped, 1), 1e-6F);
}

TEST_F(ShapeRules, Products) {
    expect(ops::mul_mat(g, g.make(Type::Q8_0, {64, 10, 2, 1}), f32({64, 7, 8, 3})), Op::MUL_MAT, Type::F32, {10, 7, 8, 3});
    expect(ops::mul_mat_id(g, f16({64, 10, 8, 1}), f32({64, 1, 5, 1}), i32({2, 5, 1, 1})), Op::MUL_MAT_ID, Type::F32,
           {10, 2, 5, 1});
    expect(ops::mul_mat_id(g, f16({64, 10, 8, 1}), f32({64, 2, 5, 1}), i32({2, 5, 1, 1})), Op::MUL_MAT_ID, Type::F32,
           {10, 2, 5, 1});
}

TEST_F(ShapeRules, Movement) {
    expect(ops::cpy(g, f32({8, 4, 1, 1}), f16({4, 8, 1, 1})), Op::CPY, Type::F16, {4, 8, 1, 1});
    expect(ops::cast(g, f32({8, 4, 1, 1}), Type::F16), Op::CPY, Type::F16, {8, 4, 1, 1});
    expect(ops::cont(g, ops::transpose(g, f32({8, 4, 1, 1}))), Op::CONT, Type::F32, {4, 8, 1, 1});
    expect(ops::cont(g, ops::transpose(g, f32({8, 4, 1, 1})), {32, 1, 1, 1}), Op::CONT, Type::F32, {32, 1, 1, 1});
    expect(ops::dup(g, f16({8, 4, 1, 1})), Op::DUP, Type::F16, {8, 4, 1, 1});
    expect(ops::repeat(g, f32({2, 1, 1, 1}), {4, 3, 1, 1}), Op::REPEAT, Type::F32, {4, 3, 1, 1});
    expect(ops::concat(g, f32({2, 3, 1, 1}), f32({2, 5, 1, 1}), 1), Op::CONCAT, Type::F32, {2, 8, 1, 1});
    expect(ops::get_rows(g, g.make(Type::Q4_K, {256, 10, 3, 2}), i32({5, 3, 2, 1})), Op::GET_ROWS, Type::F32, {256, 5, 3, 2});
    expect(ops::get_rows(g, i32({1, 10, 1, 1}), i32({5, 1, 1, 1})), Op::GET_ROWS, Type::I32, {1, 5, 1, 1});
    expect(ops::fill(g, f32({3, 1, 1, 1}), 2.0F), Op::FILL, Type::F32, {3, 1, 1, 1});
    expect(ops::arange(g, 0, 5, 2), Op::ARANGE, Type::F32, {3, 1, 1, 1});
    const Tensor* padded = ops::pad(g, f32({3, 4, 1, 1}), {1, 2, 0, 3});
    expect(padded, Op::PAD, Type::F32, {4, 6, 1, 4});
    EXPECT_EQ(padded->params, (Params{0, 1, 0, 2, 0, 0, 0, 3}));
}

TEST_F(ShapeRules, Views) {
    Tensor* a = f32({8, 6, 4, 2});
    Tensor* p = ops::permute(g, a, 2, 0, 1, 3);
    EXPECT_EQ(p->ne, (Shape{6, 4, 8, 2}));
    EXPECT_EQ(p->nb, (Strides{a->nb[1], a->nb[2], a->nb[0], a->nb[3]}));
    EXPECT_EQ(p->params, (Params{2, 0, 1, 3}));
    const Tensor* t = ops::transpose(g, a);
    EXPECT_EQ(t->ne, (Shape{6, 8, 4, 2}));
    EXPECT_EQ(t->nb, (Strides{a->nb[1], a->nb[0], a->nb[2], a->nb[3]}));
    expect(ops::reshape(g, a, {48, 8, 1, 1}), Op::RESHAPE, Type::F32, {48, 8, 1, 1});
    const Tensor* v = ops::view_3d(g, a, 4, 2, 3, a->nb[1], a->nb[2], 16);
    expect(v, Op::VIEW, Type::F32, {4, 2, 3, 1});
    EXPECT_EQ(v->nb, (Strides{4, a->nb[1], a->nb[2], 3 * a->nb[2]}));
    EXPECT_EQ(v->view_offset, 16U);
}

TEST_F(ShapeRules, Attention) {
    const Tensor* s = ops::soft_max(g, f32({32, 5, 8, 2}), f16({32, 64, 1, 1}), 0.125F, 0.0F);
    expect(s, Op::SOFT_MAX, Type::F32, {32, 5, 8, 2});
    EXPECT_EQ(number(*s, 0), 0.125F);

    RopeParams p;
    p.n_dims = 64;
    p.mode = 2;
    p.n_ctx_original = 4096;
    p.freq_base = 5e5F;
    const Tensor* r = ops::rope(g, f32({128, 8, 5, 1}), i32({5, 1, 1, 1}), f32({32, 1, 1, 1}), p);
    expect(r, Op::ROPE, Type::F32, {128, 8, 5, 1});
    EXPECT_EQ(r->params[1], 64);
    EXPECT_EQ(r->params[2], 2);
    EXPECT_EQ(r->params[4], 4096);
    EXPECT_EQ(number(*r, 5), 5e5F);
    EXPECT_EQ(number(*r, 6), 1.0F);
    EXPECT_EQ(number(*r, 8), 1.0F);
    EXPECT_EQ(number(*r, 9), 32.0F);
    EXPECT_EQ(number(*r, 10), 1.0F);

    const Tensor* f = ops::flash_attn(g, f32({64, 5, 8, 1}), f16({64, 256, 2, 1}), f16({48, 256, 2, 1}), f16({256, 5, 1, 1}),
                                      0.1F, 0.0F, 30.0F);
    expect(f, Op::FLASH_ATTN_EXT, Type::F32, {48, 8, 5, 1});
    EXPECT_EQ(number(*f, 2), 30.0F);
}

TEST_F(ShapeRules, ChoosingAndSumming) {
    Tensor* a = f32({10, 3, 2, 1});
    expect(ops::argmax(g, f32({10, 3, 1, 1})), Op::ARGMAX, Type::I32, {3, 1, 1, 1});
    expect(ops::argsort(g, a, true), Op::ARGSORT, Type::I32, {10, 3, 2, 1});
    EXPECT_EQ(ops::argsort(g, a, true)->params[0], 1);
    expect(ops::top_k(g, a, 4), Op::TOP_K, Type::I32, {4, 3, 2, 1});
    expect(ops::sum_rows(g, a), Op::SUM_ROWS, Type::F32, {1, 3, 2, 1});
    expect(ops::sum(g, a), Op::SUM, Type::F32, {1, 1, 1, 1});
    expect(ops::mean(g, f16({10, 3, 1, 1})), Op::MEAN, Type::F32, {1, 3, 1, 1});
    expect(ops::cumsum(g, a), Op::CUMSUM, Type::F32, {10, 3, 2, 1});
}

TEST_F(ShapeRules, Images) {
    const Tensor* c = ops::im2col(g, f16({14, 14, 3, 32}), f32({56, 28, 3, 2}), 14, 14, 0, 0, 1, 1, true, Type::F16);
    expect(c, Op::IM2COL, Type::F16, {14 * 14 * 3, 4, 2, 2});
    EXPECT_EQ(c->params, (Params{14, 14, 0, 0, 1, 1, 1}));
    expect(ops::im2col(g, f32({3, 4, 8, 1}), f32({10, 4, 2, 1}), 1, 0, 1, 0, 1, 0, false, Type::F32), Op::IM2COL, Type::F32,
           {12, 10, 2, 1});
    expect(ops::conv_2d(g, f32({3, 3, 4, 6}), f32({10, 8, 4, 2}), 2, 1, 1, 1, 1, 2), Op::CONT, Type::F32, {5, 6, 6, 2});
    Tensor* depthwise = ops::conv_2d_dw(g, f32({3, 3, 1, 4}), f32({10, 8, 4, 2}), 1, 1, 1, 1, 1, 1);
    EXPECT_EQ(shape_text(depthwise->ne), "[10, 8, 4, 2]");
    const Tensor* pooled = ops::pool_2d(g, f32({10, 8, 4, 1}), Pool::avg, 2, 2, 2, 2, 0, 0);
    expect(pooled, Op::POOL_2D, Type::F32, {5, 4, 4, 1});
    EXPECT_EQ(pooled->params, (Params{1, 2, 2, 2, 2, 0, 0}));
}

} // namespace
} // namespace schedscope
