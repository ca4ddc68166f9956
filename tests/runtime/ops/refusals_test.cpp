// What does not fit is refused in one sentence that names the operator and the tensors.
#include "runtime/error.h"
#include "runtime/tensor/ops.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

/// Tensors of one graph, by what they hold.
struct Bench {
    Graph g;
    Tensor* f32(const Shape& ne) { return g.make(Type::F32, ne, "x"); }
    Tensor* f16(const Shape& ne) { return g.make(Type::F16, ne, "h"); }
    Tensor* i32(const Shape& ne) { return g.make(Type::I32, ne, "i"); }
};

struct RefusalCase {
    const char* name;
    std::function<void(Bench&)> build;
    const char* message;
};

void PrintTo(const RefusalCase& r, std::ostream* out) { *out << r.name; }

class Refusals : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(Refusals, SayWhatAndWhy) {
    Bench b;
    try {
        GetParam().build(b);
        FAIL() << "was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_STREQ(e.what(), GetParam().message);
    }
}

const RefusalCase refusals[] = {
    {"AddShape",
     [](Bench& b) {
         ops::add(b.g, b.f32({4, 3, 1, 1}), b.f32({3, 1, 1, 1}));
     },
     "ADD: 'x' f32 [3] can't be repeated to 'x' f32 [4, 3]"},
    {"AddIntegers",
     [](Bench& b) {
         ops::add(b.g, b.i32({4, 1, 1, 1}), b.f32({4, 1, 1, 1}));
     },
     "ADD: 'i' i32 [4] must hold floats"},
    {"AddIdIds",
     [](Bench& b) {
         ops::add_id(b.g, b.f32({4, 2, 3, 1}), b.f32({4, 8, 1, 1}), b.f32({2, 3, 1, 1}));
     },
     "ADD_ID: row ids 'x' f32 [2, 3] must be i32"},
    {"GluHalves",
     [](Bench& b) {
         ops::glu(b.g, b.f32({5, 1, 1, 1}), nullptr, GluOp::SWIGLU);
     },
     "GLU: 'x' f32 [5] does not hold two halves"},
    {"GluShapes",
     [](Bench& b) {
         ops::glu(b.g, b.f32({5, 1, 1, 1}), b.f32({5, 2, 1, 1}), GluOp::SWIGLU);
     },
     "GLU: 'x' f32 [5] and 'x' f32 [5, 2] differ in shape"},
    {"UnaryTransposed",
     [](Bench& b) {
         ops::unary(b.g, ops::transpose(b.g, b.f32({5, 2, 1, 1})), UnaryOp::RELU);
     },
     "UNARY: 'x (transposed)' f32 [2, 5] must have contiguous rows"},
    {"ScalePermuted",
     [](Bench& b) {
         ops::scale(b.g, ops::permute(b.g, b.f32({5, 2, 3, 1}), 0, 2, 1, 3), 2.0F);
     },
     "SCALE: 'x (permuted)' f32 [5, 3, 2] must be contiguous but for gaps between rows"},
    {"GroupNorm",
     [](Bench& b) {
         ops::group_norm(b.g, b.f32({5, 2, 3, 1}), 0, 1e-5F);
     },
     "GROUP_NORM: 0 groups are not possible"},
    {"MulMatInner",
     [](Bench& b) {
         ops::mul_mat(b.g, b.f32({4, 3, 1, 1}), b.f32({5, 2, 1, 1}));
     },
     "MUL_MAT: rows of 'x' f32 [4, 3] and 'x' f32 [5, 2] differ in length"},
    {"MulMatBatch",
     [](Bench& b) {
         ops::mul_mat(b.g, b.f32({4, 3, 2, 1}), b.f32({4, 2, 3, 1}));
     },
     "MUL_MAT: 'x' f32 [4, 3, 2] can't be repeated over the matrices of 'x' f32 [4, 2, 3]"},
    {"MulMatTransposed",
     [](Bench& b) {
         ops::mul_mat(b.g, ops::transpose(b.g, b.f32({3, 4, 1, 1})), b.f32({4, 2, 1, 1}));
     },
     "MUL_MAT: 'x (transposed)' f32 [4, 3] must not be transposed"},
    {"MulMatIdTokens",
     [](Bench& b) {
         ops::mul_mat_id(b.g, b.f32({4, 3, 2, 1}), b.f32({4, 1, 5, 1}), b.i32({2, 6, 1, 1}));
     },
     "MUL_MAT_ID: 'i' i32 [2, 6] does not name experts for each token of 'x' f32 [4, 1, 5]"},
    {"CpyCount",
     [](Bench& b) {
         ops::cpy(b.g, b.f32({4, 1, 1, 1}), b.f16({5, 1, 1, 1}));
     },
     "CPY: 'x' f32 [4] and 'h' f16 [5] differ in their number of elements"},
    {"ContCount",
     [](Bench& b) {
         ops::cont(b.g, b.f32({4, 1, 1, 1}), {5, 1, 1, 1});
     },
     "CONT: 'x' f32 [4] and [5] differ in their number of elements"},
    {"Repeat",
     [](Bench& b) {
         ops::repeat(b.g, b.f32({4, 1, 1, 1}), {6, 1, 1, 1});
     },
     "REPEAT: 'x' f32 [4] can't be repeated to [6]"},
    {"Concat",
     [](Bench& b) {
         ops::concat(b.g, b.f32({4, 1, 1, 1}), b.f32({4, 2, 3, 1}), 1);
     },
     "CONCAT: 'x' f32 [4] and 'x' f32 [4, 2, 3] differ in dimension 2"},
    {"ConcatDimension",
     [](Bench& b) {
         ops::concat(b.g, b.f32({4, 1, 1, 1}), b.f32({4, 1, 1, 1}), 4);
     },
     "CONCAT: there is no dimension 4"},
    {"GetRows",
     [](Bench& b) {
         ops::get_rows(b.g, b.f32({4, 9, 1, 1}), b.f32({3, 1, 1, 1}));
     },
     "GET_ROWS: row numbers 'x' f32 [3] must be i32"},
    {"SetRows",
     [](Bench& b) {
         ops::set_rows(b.g, b.f16({4, 9, 1, 1}), b.f32({4, 3, 1, 1}), b.i32({2, 1, 1, 1}));
     },
     "SET_ROWS: 'i' i32 [2] does not number the rows of 'x' f32 [4, 3]"},
    {"ViewBeyond",
     [](Bench& b) {
         ops::view_1d(b.g, b.f32({4, 1, 1, 1}), 4, 4);
     },
     "VIEW: [4] at byte 4 reaches beyond 'x' f32 [4]"},
    {"ViewBlocks",
     [](Bench& b) {
         ops::view_1d(b.g, b.g.make(Type::Q8_0, {64, 1, 1, 1}, "q"), 16, 0);
     },
     "VIEW: rows of 16 do not divide into blocks of q8_0"},
    {"ReshapeCount",
     [](Bench& b) {
         ops::reshape(b.g, b.f32({4, 1, 1, 1}), {3, 1, 1, 1});
     },
     "RESHAPE: 'x' f32 [4] can't become [3]"},
    {"ReshapeOverflow",
     [](Bench& b) {
         ops::reshape(b.g, b.f32({4, 1, 1, 1}), {int64_t{1} << 62, 4, 1, 1});
     },
     "RESHAPE: 'x' f32 [4] can't become [4611686018427387904, 4]"},
    {"ReshapeTransposed",
     [](Bench& b) {
         ops::reshape(b.g, ops::transpose(b.g, b.f32({4, 2, 1, 1})), {8, 1, 1, 1});
     },
     "RESHAPE: 'x (transposed)' f32 [2, 4] must be contiguous"},
    {"PermuteTwice",
     [](Bench& b) {
         ops::permute(b.g, b.f32({4, 2, 1, 1}), 0, 0, 1, 2);
     },
     "PERMUTE: two dimensions of 'x' f32 [4, 2] go to the same place"},
    {"PermuteRange",
     [](Bench& b) {
         ops::permute(b.g, b.f32({4, 2, 1, 1}), 0, 1, 2, 4);
     },
     "PERMUTE: there is no dimension 4"},
    {"SoftMaxMask",
     [](Bench& b) {
         ops::soft_max(b.g, b.f32({8, 4, 2, 1}), b.f32({8, 3, 1, 1}), 1, 0);
     },
     "SOFT_MAX: mask 'x' f32 [8, 3] does not fit scores [8, 4, 2]"},
    {"SoftMaxBias",
     [](Bench& b) {
         ops::soft_max(b.g, b.f32({8, 4, 2, 1}), nullptr, 1, 8);
     },
     "SOFT_MAX: a position bias needs a mask"},
    {"RopePositions",
     [](Bench& b) {
         ops::rope(b.g, b.f32({8, 4, 2, 1}), b.i32({3, 1, 1, 1}), nullptr, RopeParams{.n_dims = 8});
     },
     "ROPE: positions 'i' i32 [3] do not fit the tokens of 'x' f32 [8, 4, 2]"},
    {"RopeDimensions",
     [](Bench& b) {
         ops::rope(b.g, b.f32({8, 4, 2, 1}), b.i32({2, 1, 1, 1}), nullptr, RopeParams{.n_dims = 10});
     },
     "ROPE: 10 dimensions of 'x' f32 [8, 4, 2] can't be rotated"},
    {"RopeFactors",
     [](Bench& b) {
         ops::rope(b.g, b.f32({8, 4, 2, 1}), b.i32({2, 1, 1, 1}), b.f32({3, 1, 1, 1}), RopeParams{.n_dims = 8});
     },
     "ROPE: factors 'x' f32 [3] are fewer than 4"},
    {"FlashAttentionHeads",
     [](Bench& b) {
         ops::flash_attn(b.g, b.f32({8, 4, 3, 1}), b.f16({8, 16, 2, 1}), b.f16({8, 16, 2, 1}), nullptr, 1, 0, 0);
     },
     "FLASH_ATTN_EXT: 'x' f32 [8, 4, 3], 'h' f16 [8, 16, 2] and 'h' f16 [8, 16, 2] do not fit together"},
    {"FlashAttentionMask",
     [](Bench& b) {
         ops::flash_attn(b.g, b.f32({8, 4, 2, 1}), b.f16({8, 16, 2, 1}), b.f16({8, 16, 2, 1}), b.f32({16, 4, 1, 1}), 1, 0, 0);
     },
     "FLASH_ATTN_EXT: mask 'x' f32 [16, 4] must be f16"},
    {"TopK",
     [](Bench& b) {
         ops::top_k(b.g, b.f32({8, 1, 1, 1}), 9);
     },
     "TOP_K: rows of 'x' f32 [8] do not have 9 elements"},
    {"Argmax",
     [](Bench& b) {
         ops::argmax(b.g, b.f32({8, 2, 2, 1}));
     },
     "ARGMAX: 'x' f32 [8, 2, 2] must be a matrix"},
    {"Arange", [](Bench& b) { ops::arange(b.g, 3, 1, 1); },
     "ARANGE: from 3.000000 to 1.000000 in steps of 1.000000 is not a sequence"},
    {"Im2colChannels",
     [](Bench& b) {
         ops::im2col(b.g, b.f32({3, 3, 4, 1}), b.f32({8, 8, 3, 1}), 1, 1, 0, 0, 1, 1, true, Type::F32);
     },
     "IM2COL: kernel 'x' f32 [3, 3, 4] and image 'x' f32 [8, 8, 3] differ in channels"},
    {"Im2colKernel",
     [](Bench& b) {
         ops::im2col(b.g, b.f32({9, 9, 3, 1}), b.f32({8, 8, 3, 1}), 1, 1, 0, 0, 1, 1, true, Type::F32);
     },
     "IM2COL: kernel 'x' f32 [9, 9, 3] is larger than image 'x' f32 [8, 8, 3]"},
    {"Pool",
     [](Bench& b) {
         ops::pool_2d(b.g, b.f32({2, 2, 1, 1}), Pool::max, 4, 4, 1, 1, 0, 0);
     },
     "POOL_2D: the window is larger than 'x' f32 [2, 2]"},
};

INSTANTIATE_TEST_SUITE_P(All, Refusals, ::testing::ValuesIn(refusals),
                         [](const auto& param) { return std::string(param.param.name); });

} // namespace
} // namespace schedscope
