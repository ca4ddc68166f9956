// Quantised rows as floats, and the table of what is done with them. Compiled once for each instruction set.

#include "runtime/backend/cpu/vectors/isa_panels.h"
#include "runtime/backend/cpu/vectors/isa_repacked.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/numbers.h"

namespace schedscope {

namespace {

template <typename Row, int N> void dot_columns(const void* row, const float* x, int64_t stride, int64_t n, float* out) {
    const auto* blocks = static_cast<const typename Row::Block*>(row);
    constexpr int block = Row::pieces * piece, sums = 2;
    Floats acc[N][sums] = {};
    for (int64_t i = 0; i < n / block; ++i) {
        const float* y = x + i * block;
        each_vector<Row>(
            blocks[i], [&](int at, Floats w) __attribute__((always_inline)) {
                for (int j = 0; j < N; ++j) {
                    acc[j][at / width % sums] += w * load(y + j * stride + at);
                }
            });
    }
    for (int j = 0; j < N; ++j) {
        out[j] = total(acc[j][0] + acc[j][1]);
    }
}

template <typename Row> void dot(const void* row, const float* x, int64_t stride, int n_columns, int64_t n, float* out) {
    with_count(n_columns, [=](auto columns) { dot_columns<Row, decltype(columns)::value>(row, x, stride, n, out); });
}

template <typename Row> void expand_row(const void* row, float* out, int64_t n) {
    const auto* blocks = static_cast<const typename Row::Block*>(row);
    constexpr int block = Row::pieces * piece;
    for (int64_t i = 0; i < n / block; ++i) {
        each_vector<Row>(
            blocks[i], [&](int at, Floats w) __attribute__((always_inline)) { store(out + i * block + at, w); });
    }
}

template <typename Row> constexpr BlockOps ops_of() {
    return {dot<Row>,
            expand_row<Row>,
            {int8::dot<Row>, int8::panel_bytes<int8::PanelOf<Row>>, int8::pack<Row>, int8::multiply<int8::PanelOf<Row>>},
            {}};
}
/// The same of types whose rows can be laid out when they are loaded.
template <typename Row> constexpr BlockOps repacked_ops_of() {
    BlockOps ops = ops_of<Row>();
    ops.repacked = int8::repacked_of<Row>();
    return ops;
}

/// Of types whose elements lie in code books or in numbers of base 3: rows are expanded by what all instruction sets share, then
/// multiplied as floats.
template <typename Block> void expand_blocks(const void* row, float* out, int64_t n) {
    const auto* blocks = static_cast<const Block*>(row);
    for (int64_t i = 0; i < n / super_block; ++i) {
        expand(blocks[i], out + i * super_block);
    }
}
template <typename Block> constexpr BlockOps expanded_ops_of() { return {nullptr, expand_blocks<Block>, {}, {}}; }

} // namespace

const BlockOps SCHEDSCOPE_TABLE(block_ops_, SCHEDSCOPE_ISA)[n_types] = {
    {}, // F32
    {}, // F16
    {}, // BF16
    {}, // I8
    {}, // I16
    {}, // I32
    {}, // I64
    {}, // F64
    repacked_ops_of<RowQ4_0>(),
    repacked_ops_of<RowQ4_1>(),
    ops_of<RowQ5_0>(),
    ops_of<RowQ5_1>(),
    repacked_ops_of<RowQ8_0>(),
    ops_of<RowQ2_K>(),
    ops_of<RowQ3_K>(),
    repacked_ops_of<RowQ4_K>(),
    repacked_ops_of<RowQ5_K>(),
    repacked_ops_of<RowQ6_K>(),
    repacked_ops_of<RowIQ4_NL>(),
    ops_of<RowIQ4_XS>(),
    ops_of<RowMXFP4>(),
    expanded_ops_of<BlockTQ1_0>(),
    ops_of<RowTQ2_0>(),
    expanded_ops_of<BlockIQ1_S>(),
    expanded_ops_of<BlockIQ1_M>(),
    expanded_ops_of<BlockIQ2_XXS>(),
    expanded_ops_of<BlockIQ2_XS>(),
    expanded_ops_of<BlockIQ2_S>(),
    expanded_ops_of<BlockIQ3_XXS>(),
    expanded_ops_of<BlockIQ3_S>(),
};
static_assert(ordinal(Type::Q4_0) == 8 && ordinal(Type::Q8_0) == 12 && ordinal(Type::Q2_K) == 13 && ordinal(Type::IQ4_NL) == 18 &&
                  ordinal(Type::MXFP4) == 20 && ordinal(Type::TQ2_0) == 22 && ordinal(Type::IQ3_S) == 29 &&
                  ordinal(Type::count) == 30,
              "the table is in the order of the types");

} // namespace schedscope
