#include "runtime/backend/cpu/vectors/vector_ops.h"

#include "runtime/tensor/blocks.h"
#include "tests/runtime/backend/ops/op_cases.h"
#include "tests/support/graphs/row_of_floats.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace schedscope::test {
namespace {

/// Types whose blocks are taken apart by vectors. Rows of the others are expanded only, then multiplied as floats.
std::vector<Type> vector_types() {
    std::vector<Type> types = shader_types();
    std::erase_if(types, [](Type type) { return !traits(type).quantised(); });
    types.push_back(Type::TQ2_0);
    return types;
}

std::vector<Type> quantised_types() {
    std::vector<Type> types = expandable_types();
    std::erase_if(types, [](Type type) { return !traits(type).quantised(); });
    return types;
}

/// A block may hold −128, which quantising does not give.
void set_least(Type type, std::byte* blocks) {
    if (type == Type::Q8_0) {
        reinterpret_cast<BlockQ8_0*>(blocks)->qs[3] = -128;
    }
}

class BlockOpsOf : public ::testing::TestWithParam<const VectorOps*> {
protected:
    const VectorOps& v = *GetParam();

    /// Calls use(type, ops, blocks, what they stand for, n) for each of the types and some lengths.
    template <typename Use> void for_each_row(const std::vector<Type>& types, Use use) {
        for (const Type type : types) {
            for (const int64_t n_blocks : {1, 2, 3, 5, 16}) {
                const int64_t n = n_blocks * traits(type).block;
                const auto row = some_floats(static_cast<size_t>(n));
                std::vector<std::byte> blocks(row_bytes(type, n));
                std::vector<float> expanded(row.size());
                row_of_floats(type, row.data(), blocks.data(), n);
                set_least(type, blocks.data());
                row_to_float(type, blocks.data(), expanded.data(), n);
                SCOPED_TRACE(std::string(type_name(type)) + " row of " + std::to_string(n));
                use(v.blocks[static_cast<size_t>(type)], blocks, expanded, n);
            }
        }
    }
};

TEST_P(BlockOpsOf, ExpandEveryTypeAsItIs) {
    for_each_row(quantised_types(),
                 [&](const BlockOps& ops, const std::vector<std::byte>& blocks, const std::vector<float>& expanded, int64_t n) {
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
    for_each_row(vector_types(), [&](const BlockOps& ops, const std::vector<std::byte>& blocks,
                                     const std::vector<float>& expanded, int64_t n) {
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

/// Are there numbers that are lifted where columns are to be? Zero shows it.
bool lifts_columns(const VectorOps& v) {
    const std::vector<float> zeros(Int8Columns::unit);
    std::vector<int8_t> codes(zeros.size());
    std::vector<float> scales(zeros.size()), sums(zeros.size());
    std::vector<int32_t> totals(zeros.size());
    v.quantise(zeros.data(), Int8Columns::unit, true, codes.data(), scales.data(), sums.data(), totals.data());
    return codes[0] != 0;
}

/// Columns that are quantised, and what their numbers stand for.
struct QuantisedColumns {
    QuantisedColumns(const VectorOps& v, const std::vector<float>& x, int64_t n, bool lifts)
        : stride((n + Int8Columns::unit - 1) / Int8Columns::unit * Int8Columns::unit), groups(stride / Int8Columns::group),
          n_columns(static_cast<int64_t>(x.size()) / n), codes(static_cast<size_t>(n_columns * stride)),
          scales(static_cast<size_t>(n_columns * groups)), sums(scales.size()), totals(sums.size()), values(x.size()) {
        const bool is_lifted = lifts && lifts_columns(v); // a number that is, is one of 1 to 255
        for (int64_t j = 0; j < n_columns; ++j) {
            v.quantise(&x[static_cast<size_t>(j * n)], n, lifts, &codes[static_cast<size_t>(j * stride)],
                       &scales[static_cast<size_t>(j * groups)], &sums[static_cast<size_t>(j * groups)],
                       &totals[static_cast<size_t>(j * groups)]);
            for (int64_t i = 0; i < n; ++i) {
                const int8_t code = codes[static_cast<size_t>(j * stride + i)];
                const int number = is_lifted ? static_cast<uint8_t>(code) - 128 : code;
                values[static_cast<size_t>(j * n + i)] =
                    static_cast<double>(scales[static_cast<size_t>(j * groups + i / Int8Columns::group)]) * number;
            }
        }
    }
    Int8Columns columns() const { return {codes.data(), stride, scales.data(), sums.data(), groups}; }
    /// For such rows.
    Int8Columns columns(const RepackedRows& rows) {
        begins.assign(totals.size(), 0);
        sums_together.assign(sums.size(), 0);
        const int64_t together = rows.scaled / Int8Columns::group;
        for (int64_t j = 0; j < n_columns; ++j) {
            for (int64_t g = 0; g < groups; ++g) {
                const auto at = static_cast<size_t>(j * groups + g);
                begins[static_cast<size_t>(j * groups + g / together)] -= rows.taken_off * totals[at];
                sums_together[at - static_cast<size_t>(g % together)] += sums[at];
            }
        }
        Int8Columns all = columns();
        all.begins = begins.data();
        all.sums = sums_together.data();
        return all;
    }
    double product(const std::vector<float>& row, int64_t column) const {
        double sum = 0;
        for (size_t i = 0; i < row.size(); ++i) {
            sum += static_cast<double>(row[i]) * values[static_cast<size_t>(column) * row.size() + i];
        }
        return sum;
    }

    int64_t stride, groups, n_columns;
    std::vector<int8_t> codes;
    std::vector<float> scales, sums, sums_together;
    std::vector<int32_t> totals, begins;
    std::vector<double> values;
};

TEST_P(BlockOpsOf, RoundColumnsToTheNearestOf255Steps) {
    constexpr int64_t n = 320;
    auto x = some_floats(n);
    std::fill_n(x.begin() + 32, 32, 0.0F);
    for (const bool lifts : {false, true}) {
        const QuantisedColumns q(v, x, n, lifts);
        for (size_t i = 0; i < n; ++i) {
            const float scale = q.scales[i / Int8Columns::group];
            const float largest = std::abs(*std::max_element(x.begin() + static_cast<long>(i / 32 * 32),
                                                             x.begin() + static_cast<long>(i / 32 * 32 + 32),
                                                             [](float a, float b) { return std::abs(a) < std::abs(b); }));
            ASSERT_FLOAT_EQ(scale, largest / 127) << i;
            ASSERT_NEAR(q.values[i], x[i], scale * 0.5001F) << i;
        }
        for (size_t g = 0; g < n / Int8Columns::group; ++g) {
            double sum = 0;
            for (size_t i = 0; i < Int8Columns::group; ++i) {
                sum += q.values[g * Int8Columns::group + i];
            }
            ASSERT_NEAR(q.sums[g], sum, 1e-5) << g;
            ASSERT_NEAR(static_cast<double>(q.scales[g]) * q.totals[g], sum, 1e-5) << g;
        }
    }
    std::fill_n(x.begin() + 96, 32, 1e-39F); // one through it is infinite
    const QuantisedColumns tiny(v, x, n, false);
    EXPECT_EQ(tiny.values[100], 0);
    EXPECT_EQ(tiny.sums[6], 0.0F);
    for (const float odd : {INFINITY, -INFINITY, NAN}) {
        x[70] = odd;
        const QuantisedColumns q(v, x, n, false);
        EXPECT_TRUE(std::isnan(q.scales[4])) << odd;
        EXPECT_FALSE(std::isnan(q.scales[6])) << odd;
    }
}

TEST_P(BlockOpsOf, MultiplyARowWithColumnsOfWholeNumbers) {
    for_each_row(vector_types(),
                 [&](const BlockOps& ops, const std::vector<std::byte>& blocks, const std::vector<float>& expanded, int64_t n) {
                     ASSERT_NE(ops.int8.dot, nullptr);
                     const QuantisedColumns q(v, some_floats(static_cast<size_t>(Int8Rows::max_columns * n)), n, false);
                     for (int columns = 1; columns <= Int8Rows::max_columns; ++columns) {
                         float found[Int8Rows::max_columns + 1];
                         std::fill(std::begin(found), std::end(found), 99.0F);
                         ops.int8.dot(blocks.data(), 0, 1, q.columns(), columns, n, found, 1);
                         for (int j = 0; j < columns; ++j) {
                             ASSERT_NEAR(found[j], q.product(expanded, j), 4e-6 * std::sqrt(static_cast<double>(n)))
                                 << "column " << j << " of " << columns;
                         }
                         EXPECT_EQ(found[columns], 99.0F);
                     }
                 });
}

TEST_P(BlockOpsOf, GiveOfSeveralRowsWithWholeNumbersWhatEachGivesAlone) {
    for (const Type type : vector_types()) {
        const Int8Rows& ops = v.blocks[static_cast<size_t>(type)].int8;
        const int64_t n = 3 * std::max<int64_t>(96, traits(type).block);
        const auto bytes = row_bytes(type, n);
        constexpr int64_t n_rows = 7;
        const size_t stride = 2 * bytes;
        std::vector<std::byte> blocks(stride * n_rows);
        const auto all = some_floats(static_cast<size_t>(n_rows * n));
        for (size_t r = 0; r < n_rows; ++r) {
            row_of_floats(type, &all[r * static_cast<size_t>(n)], &blocks[r * stride], n);
        }
        const QuantisedColumns q(v, some_floats(static_cast<size_t>(Int8Rows::max_columns * n)), n, false);
        for (int columns = 1; columns <= Int8Rows::max_columns; ++columns) {
            constexpr int64_t apart = n_rows + 1;
            float found[Int8Rows::max_columns * apart], alone[Int8Rows::max_columns];
            std::fill(std::begin(found), std::end(found), 99.0F);
            ops.dot(blocks.data(), stride, n_rows, q.columns(), columns, n, found, apart);
            for (int64_t r = 0; r < n_rows; ++r) {
                ops.dot(&blocks[static_cast<size_t>(r) * stride], stride, 1, q.columns(), columns, n, alone, 1);
                for (int j = 0; j < columns; ++j) {
                    ASSERT_EQ(found[j * apart + r], alone[j])
                        << type_name(type) << ", row " << r << ", column " << j << " of " << columns;
                }
            }
            for (int j = 0; j < columns; ++j) {
                EXPECT_EQ(found[j * apart + n_rows], 99.0F);
            }
        }
    }
}

TEST_P(BlockOpsOf, MultiplyPanelsOfRowsWithColumnsOfWholeNumbers) {
    for (const Type type : vector_types()) {
        const Int8Rows& ops = v.blocks[static_cast<size_t>(type)].int8;
        const int64_t n = std::max<int64_t>(96, traits(type).block);
        const auto bytes = row_bytes(type, n);
        for (const int64_t n_rows : {1, 4, 15, 16, 33, 64}) {
            std::vector<std::byte> blocks(bytes * static_cast<size_t>(n_rows));
            std::vector<std::vector<float>> expanded(static_cast<size_t>(n_rows), std::vector<float>(static_cast<size_t>(n)));
            const auto all = some_floats(static_cast<size_t>(n_rows * n));
            for (size_t r = 0; r < static_cast<size_t>(n_rows); ++r) {
                row_of_floats(type, &all[r * static_cast<size_t>(n)], &blocks[r * bytes], n);
                set_least(type, &blocks[r * bytes]);
                row_to_float(type, &blocks[r * bytes], expanded[r].data(), n);
            }
            const int64_t in_panel = v.panel_rows, n_panels = (n_rows + in_panel - 1) / in_panel;
            std::vector<std::byte> panels(static_cast<size_t>(n_panels * ops.panel_bytes(n)));
            for (int64_t p = 0; p < n_panels; ++p) {
                ops.pack(&blocks[static_cast<size_t>(p * in_panel) * bytes], bytes, std::min(in_panel, n_rows - p * in_panel), n,
                         &panels[static_cast<size_t>(p * ops.panel_bytes(n))]);
            }
            constexpr int64_t most_columns = 17;
            const QuantisedColumns q(v, some_floats(static_cast<size_t>(most_columns * n)), n, true);
            for (const int64_t n_columns : {1, 2, 5, 6, 9, 17}) {
                SCOPED_TRACE(std::string(type_name(type)) + ", " + std::to_string(n_rows) + " rows, " +
                             std::to_string(n_columns) + " columns");
                const int64_t apart = n_rows + 1;
                std::vector<float> found(static_cast<size_t>(n_columns * apart), 99.0F);
                ops.multiply(panels.data(), n_rows, n, q.columns(), n_columns, found.data(), apart, nullptr, 0);
                for (int64_t j = 0; j < n_columns; ++j) {
                    for (int64_t r = 0; r < n_rows; ++r) {
                        ASSERT_NEAR(found[static_cast<size_t>(j * apart + r)], q.product(expanded[static_cast<size_t>(r)], j),
                                    4e-6 * std::sqrt(static_cast<double>(n)))
                            << "row " << r << ", column " << j;
                    }
                    EXPECT_EQ(found[static_cast<size_t>(j * apart + n_rows)], 99.0F);
                }
            }
        }
    }
}

/// Rows of blocks one behind the other, and what they stand for.
struct SomeRows {
    SomeRows(Type type, int64_t n_rows, int64_t n)
        : bytes(row_bytes(type, n)), blocks(bytes * static_cast<size_t>(n_rows)),
          expanded(static_cast<size_t>(n_rows), std::vector<float>(static_cast<size_t>(n))) {
        const auto all = some_floats(static_cast<size_t>(n_rows * n));
        for (size_t r = 0; r < expanded.size(); ++r) {
            row_of_floats(type, &all[r * static_cast<size_t>(n)], &blocks[r * bytes], n);
            set_least(type, &blocks[r * bytes]);
            row_to_float(type, &blocks[r * bytes], expanded[r].data(), n);
        }
    }
    /// As panels, whose number of rows n_rows is a multiple of.
    std::vector<std::byte> laid_out(const VectorOps& v, const RepackedRows& ops, int64_t n) const {
        std::vector<std::byte> panels(blocks.size());
        const size_t of_panel = static_cast<size_t>(v.panel_rows) * bytes;
        for (size_t at = 0; at < blocks.size(); at += of_panel) {
            ops.lay_out(&blocks[at], n, &panels[at]);
        }
        return panels;
    }

    size_t bytes;
    std::vector<std::byte> blocks;
    std::vector<std::vector<float>> expanded;
};

TEST_P(BlockOpsOf, GiveRowsThatWereLaidOutBackAsTheyWere) {
    for (const Type type : vector_types()) {
        const RepackedRows& ops = v.blocks[static_cast<size_t>(type)].repacked;
        if (ops.lay_out == nullptr) {
            continue;
        }
        SCOPED_TRACE(type_name(type));
        const int64_t n = 3 * traits(type).block;
        const SomeRows rows(type, v.panel_rows, n);
        const auto panel = rows.laid_out(v, ops, n);
        EXPECT_NE(panel, rows.blocks);
        std::vector<std::byte> back(rows.blocks.size());
        ops.take_back(panel.data(), n, back.data());
        EXPECT_EQ(back, rows.blocks);
    }
}

TEST_P(BlockOpsOf, LayBlocksOutUnitByUnit) {
    // Two blocks of Q4_0 in each row: the halves of all rows, then their four words; then the second block's.
    const size_t rows = static_cast<size_t>(v.panel_rows);
    std::vector<std::byte> blocks(rows * 2 * sizeof(BlockQ4_0)), panel(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
        blocks[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    v.blocks[static_cast<size_t>(Type::Q4_0)].repacked.lay_out(blocks.data(), 64, panel.data());
    const auto expect_same = [&](size_t at, size_t from, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            ASSERT_EQ(panel[at + i], blocks[from + i]) << at << " of " << from;
        }
    };
    for (size_t r = 0; r < rows; ++r) {
        for (size_t b = 0; b < 2; ++b) {
            const size_t block = (2 * r + b) * 18, in_panel = b * 18 * rows;
            expect_same(in_panel + 2 * r, block, 2);
            for (size_t word = 0; word < 4; ++word) {
                expect_same(in_panel + 2 * rows + (word * rows + r) * 4, block + 2 + 4 * word, 4);
            }
        }
    }
}

TEST_P(BlockOpsOf, UnfoldRowsThatWereLaidOutAsTheyArePacked) {
    ASSERT_NE(v.blocks[ordinal(Type::Q8_0)].repacked.unfold, nullptr);
    for (const Type type : vector_types()) {
        const BlockOps& ops = v.blocks[static_cast<size_t>(type)];
        if (ops.repacked.unfold == nullptr) {
            continue;
        }
        SCOPED_TRACE(type_name(type));
        const int64_t n = 3 * traits(type).block;
        const SomeRows rows(type, v.panel_rows, n);
        std::vector<std::byte> packed(static_cast<size_t>(ops.int8.panel_bytes(n))), unfolded(packed.size());
        ops.int8.pack(rows.blocks.data(), rows.bytes, v.panel_rows, n, packed.data());
        ops.repacked.unfold(rows.laid_out(v, ops.repacked, n).data(), n, unfolded.data());
        EXPECT_EQ(unfolded, packed);
    }
}

TEST_P(BlockOpsOf, MultiplyRowsThatWereLaidOutAsPanelsDo) {
    for (const Type type : vector_types()) {
        const BlockOps& ops = v.blocks[static_cast<size_t>(type)];
        if (ops.repacked.multiply == nullptr) {
            continue;
        }
        const int64_t n = 2 * std::max<int64_t>(96, traits(type).block);
        for (const int64_t n_panels : {1, 2, 3}) {
            const int64_t n_rows = n_panels * v.panel_rows;
            const SomeRows rows(type, n_rows, n);
            const auto laid_out = rows.laid_out(v, ops.repacked, n);
            std::vector<std::byte> panels(static_cast<size_t>(n_panels * ops.int8.panel_bytes(n)));
            for (int64_t p = 0; p < n_panels; ++p) {
                ops.int8.pack(&rows.blocks[static_cast<size_t>(p * v.panel_rows) * rows.bytes], rows.bytes, v.panel_rows, n,
                              &panels[static_cast<size_t>(p * ops.int8.panel_bytes(n))]);
            }
            for (const int64_t n_columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
                SCOPED_TRACE(std::string(type_name(type)) + ", " + std::to_string(n_rows) + " rows, " +
                             std::to_string(n_columns) + " columns");
                const auto x = some_floats(static_cast<size_t>(n_columns * n));
                QuantisedColumns q(v, x, n, false);
                const QuantisedColumns lifted(v, x, n, true);
                const int64_t apart = n_rows + 1;
                std::vector<float> found(static_cast<size_t>(n_columns * apart), 99.0F), of_panels = found;
                ops.repacked.multiply(laid_out.data(), n_rows, n, q.columns(ops.repacked), n_columns, found.data(), apart);
                ops.int8.multiply(panels.data(), n_rows, n, lifted.columns(), n_columns, of_panels.data(), apart, nullptr, 0);
                EXPECT_EQ(found, of_panels);
                for (int64_t j = 0; j < n_columns; ++j) {
                    for (int64_t r = 0; r < n_rows; ++r) {
                        ASSERT_NEAR(found[static_cast<size_t>(j * apart + r)],
                                    q.product(rows.expanded[static_cast<size_t>(r)], j), 4e-6 * std::sqrt(static_cast<double>(n)))
                            << "row " << r << ", column " << j;
                    }
                }
            }
        }
    }
}

/// The largest numbers that there are, of rows and of columns: sums of them fit where they are made.
TEST_P(BlockOpsOf, MultiplyTheLargestNumbersOfRowsThatWereLaidOut) {
    for (const Type type : vector_types()) {
        const RepackedRows& ops = v.blocks[static_cast<size_t>(type)].repacked;
        if (ops.multiply == nullptr) {
            continue;
        }
        for (const auto fill : {std::byte{0xFF}, std::byte{0x80}, std::byte{0x7F}, std::byte{0x00}}) {
            SCOPED_TRACE(std::string(type_name(type)) + " of " + std::to_string(static_cast<int>(fill)));
            const int64_t n = traits(type).block;
            SomeRows rows(type, v.panel_rows, n);
            for (size_t r = 0; r < rows.expanded.size(); ++r) {
                std::byte* const block = &rows.blocks[r * rows.bytes];
                std::fill_n(block, rows.bytes, fill);
                const size_t scale = type == Type::Q6_K ? offsetof(BlockQ6_K, d) : 0;
                const uint16_t quarters[] = {0x3400, 0x3400}; // and what else is a half
                const bool two = type == Type::Q4_1 || type == Type::Q4_K || type == Type::Q5_K;
                std::memcpy(block + scale, quarters, two ? 4 : 2);
                row_to_float(type, block, rows.expanded[r].data(), n);
            }
            for (const float x : {1.0F, -1.0F}) {
                QuantisedColumns q(v, std::vector<float>(static_cast<size_t>(n), x), n, false);
                std::vector<float> found(static_cast<size_t>(v.panel_rows));
                ops.multiply(rows.laid_out(v, ops, n).data(), v.panel_rows, n, q.columns(ops), 1, found.data(), v.panel_rows);
                for (size_t r = 0; r < found.size(); ++r) {
                    const double wanted = q.product(rows.expanded[r], 0);
                    ASSERT_NEAR(found[r], wanted, 1e-5 * std::max(1.0, std::abs(wanted))) << "row " << r;
                }
            }
        }
    }
}

TEST_P(BlockOpsOf, AreThereForQuantisedTypesOnly) {
    for (const Type type : {Type::F32, Type::F16, Type::BF16, Type::I32, Type::F64}) {
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].dot, nullptr);
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].expand, nullptr);
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].int8.dot, nullptr);
    }
    const std::vector<Type> taken_apart = vector_types();
    for (const Type type : quantised_types()) {
        const bool by_vectors = std::find(taken_apart.begin(), taken_apart.end(), type) != taken_apart.end();
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].dot != nullptr, by_vectors) << type_name(type);
        EXPECT_EQ(v.blocks[static_cast<size_t>(type)].int8.dot != nullptr, by_vectors) << type_name(type);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BlockOpsOf, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace schedscope::test
