#include "runtime/backend/cpu/vectors/vector_ops.h"

#include "runtime/tensor/convert.h"
#include "tests/runtime/backend/ops/op_cases.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

#include <cmath>

namespace schedscope::test {
namespace {

class BlockOpsOf : public ::testing::TestWithParam<const VectorOps*> {
protected:
    const VectorOps& v = *GetParam();

    /// Calls use(type, ops, blocks, what they stand for, n) for each quantised type and some lengths.
    template <typename Use> void for_each_row(Use use) {
        for (const Type type : expandable_types()) {
            if (!traits(type).quantised()) {
                continue;
            }
            for (const int64_t n_blocks : {1, 2, 3, 5, 16}) {
                const int64_t n = n_blocks * traits(type).block;
                const auto row = some_floats(static_cast<size_t>(n));
                std::vector<std::byte> blocks(row_bytes(type, n));
                std::vector<float> expanded(row.size());
                row_from_float(type, row.data(), blocks.data(), n);
                row_to_float(type, blocks.data(), expanded.data(), n);
                SCOPED_TRACE(std::string(type_name(type)) + " row of " + std::to_string(n));
                use(v.blocks[static_cast<size_t>(type)], blocks, expanded, n);
            }
        }
    }
};

TEST_P(BlockOpsOf, ExpandEveryTypeAsItIs) {
    for_each_row([&](const BlockOps& ops, const std::vector<std::byte>& blocks, const std::vector<float>& expanded, int64_t n) {
        ASSERT_NE(ops.expand, nullptr);
        std::vector<float> found(expanded.size() + 1, 99.0F);
        ops.expand(blocks.data(), found.data(), n);
        for (size_t i = 0; i < expanded.size(); ++i) {
            ASSERT_NEAR(found[i], expanded[i], 1e-6F) << i;
        }
        EXPECT_EQ(found.back(), 99.0F);
    });
}

TEST_P(BlockOpsOf, MultiplyARowWithSomeColumns) {
    for_each_row([&](const BlockOps& ops, const std::vector<std::byte>& blocks, const std::vector<float>& expanded, int64_t n) {
        ASSERT_NE(ops.dot, nullptr);
        const int64_t stride = n + 3;
        const auto x = some_floats(static_cast<size_t>(BlockOps::max_columns * stride) + 1);
        for (int columns = 1; columns <= BlockOps::max_columns; ++columns) {
            float found[BlockOps::max_columns + 1];
            std::fill(std::begin(found), std::end(found), 99.0F);
            ops.dot(blocks.data(), x.data() + 1, stride, columns, n, found);
            for (int j = 0; j < columns; ++j) {
                double wanted = 0;
                for (int64_t i = 0; i < n; ++i) {
                    wanted += static_cast<double>(expanded[static_cast<size_t>(i)]) *
                              static_cast<double>(x[static_cast<size_t>(j * stride + i) + 1]);
                }
                ASSERT_NEAR(found[j], wanted, 2e-6 * std::sqrt(static_cast<double>(n))) << "column " << j << " of " << columns;
            }
            EXPECT_EQ(found[columns], 99.0F);
        }
    });
}

TEST_P(BlockOpsOf, AreThereForQuantisedTypesOnly) {
    for (const Type type : {Type::F32, Type::F16, Type::BF16, Type::I32, Type::F64}) {
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].dot, nullptr);
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].expand, nullptr);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BlockOpsOf, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace schedscope::test
