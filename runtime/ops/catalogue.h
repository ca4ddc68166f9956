#pragma once

#include "runtime/numbers.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/op.h"
#include "runtime/ops/rules.h"

#include <array>
#include <cstdint>

namespace schedscope {

/// Sources of which a kernel reads an element (of a norm: a row) only to make the result's at the same place.
enum class Along : uint8_t { none, source_0, all };

/// What is known of an operator wherever it runs: its line in catalogue.def.
struct OpTraits {
    int sources = 1;                               ///< that every kernel reads: 0 to this − 1
    Shape (*shape)(const SourceShapes&) = nullptr; ///< the result's shape; null: numbers beside the sources decide it
    int64_t (*flops)(const Shape& ne, const SourceShapes&) = flops::each<1>;
    int64_t (*batch)(const Shape& ne) = batch::rows; ///< what its offload is counted by
    Along along = Along::none;
    int target = -1;            ///< the source that it writes to, whose view the result is; −1: none
    bool in_place = false;      ///< kernels may write over any source of the result's layout
    bool view = false;          ///< it moves no data
    bool weights_decide = true; ///< it runs where its weights lie; false: they are too small to decide that
};

inline constexpr std::array<OpTraits, ordinal(Op::count)> op_catalogue = {{
#define OPERATOR(name, parameters, ...) {__VA_ARGS__},
#include "runtime/ops/catalogue.def"
}};

constexpr const OpTraits& traits(Op op) noexcept { return op_catalogue[ordinal(op)]; }

/// VIEW, RESHAPE, PERMUTE and TRANSPOSE.
constexpr bool is_view_op(Op op) noexcept { return traits(op).view; }

/// What the offload of a node is counted by: a product's ne[1], an expert product's and a rope's ne[2], else the number of rows;
/// 0 for a row lookup, which is never offloaded. ne: the node's shape. (ggml's rule.)
constexpr int64_t offload_batch(Op op, const Shape& ne) noexcept { return traits(op).batch(ne); }

/// Neither a leaf nor a view.
constexpr bool is_computed(Op op) noexcept { return op != Op::NONE && !is_view_op(op); }

} // namespace schedscope
