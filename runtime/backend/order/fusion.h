#pragma once

#include "runtime/backend/backend.h"

/// Groups of nodes that a backend runs as one kernel: what there is (the table in fusion.cpp), how they are found, and when they
/// may run so.
namespace schedscope {

/// The kernels. Members are listed in the order they have in a group; the last one's result is written, the others' are not kept.
namespace fused {

// A norm and the weight behind it; each other operand has the result's row length and is repeated along the other dimensions.
constexpr std::string_view rms_norm_mul = "rms_norm_mul";         ///< RMS_NORM MUL
constexpr std::string_view rms_norm_mul_add = "rms_norm_mul_add"; ///< RMS_NORM MUL ADD
constexpr std::string_view norm_mul = "norm_mul";                 ///< NORM MUL
constexpr std::string_view norm_mul_add = "norm_mul_add";         ///< NORM MUL ADD

/// ADD ADD …: 2 to max_chain of them, all of one shape; operands as for the norms.
constexpr std::string_view add_chain = "add_chain";
constexpr size_t max_chain = 8;

// A product; what is added is one row, or has the product's shape.
constexpr std::string_view mul_mat_add = "mul_mat_add";         ///< MUL_MAT ADD
constexpr std::string_view mul_mat_add_act = "mul_mat_add_act"; ///< MUL_MAT ADD UNARY

/// Two products with the same source 1, in either order, and their gate: MUL_MAT MUL_MAT GLU (of two sources), or MUL_MAT MUL_MAT
/// UNARY MUL where UNARY is a function that GLU has too.
constexpr std::string_view gate_up = "gate_up";

/// ROPE, views, SET_ROWS: each token's turned heads, one behind the other, are one row that is written into a cache.
constexpr std::string_view rope_set_rows = "rope_set_rows";

} // namespace fused

/// A backend's say about groups.
class FusedKernels {
public:
    virtual ~FusedKernels() = default;
    /// Has the backend this kernel at all? Without it such groups are not looked for.
    virtual bool has(std::string_view kernel) const = 0;
    /// Empty: the kernel takes this group. Otherwise a constant that says why not: "types", "layout", "batch too large". What the
    /// comments above say holds for it; all is F32 with contiguous rows, except a product's sources and what ROPE and SET_ROWS
    /// read and write.
    virtual std::string_view why_not(std::string_view kernel, std::span<Tensor* const> nodes) const = 0;
};

/// Finds the groups of a split, moves the nodes of each together (never across a dependency) and fills `groups` (in order) and
/// `not_fused`. The longest group wins; a node is in at most one. Why pairs were left apart: "used elsewhere", "output",
/// "watched", "shapes", "sources differ" (of two products), "types", "layout", "another group" (one of the two is in it), "order"
/// (a node that must run between them), "too far apart", or what the backend said. Where that is "batch too large" (the pair is
/// then the first and the last of the group) the nodes are brought together all the same: a smaller batch has them in the same
/// order, and its memory fits.
void find_groups(SplitGraph& split, const FusedKernels& kernels);

/// May the group run as one kernel where memory was planned so? The result must not overlap what the kernel still reads: a source
/// that is read element by element (the norms': row by row) may be exactly the same place, others may not.
bool group_is_safe(std::span<Tensor* const> nodes) noexcept;

} // namespace schedscope
