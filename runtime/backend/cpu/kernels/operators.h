#pragma once

#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/planner/answer.h"

#include <span>
#include <string_view>

namespace schedscope::cpu {

/// An operator on the CPU: which nodes it takes, and its kernel. Its entry stands below the kernel, in the file of its family.
struct CpuOperator {
    Op op;
    std::string_view name;                  ///< the kernel's, in records
    Answer (*supports)(const Tensor& node); ///< of types, shapes and layouts only
    Kernel run;
};

/// Null where there is no kernel: leafs and views need none.
const CpuOperator* find_operator(Op op) noexcept;

/// The kernel's name in records: the operator's, or of products one for each type of weights.
std::string_view kernel_name(const CpuOperator& entry, const Tensor& node);
/// The name of a kernel, fused ones among them, with what it multiplies columns as that it rounds: "mul_mat_q4_0" and "_int8".
/// Both must live as long as the program; the result does.
std::string_view name_with(std::string_view kernel, std::string_view rounded);

/// Can the CPU run the node? Leafs and views always.
Answer supports_op(const Tensor& node);

// The families, each in kernels_NAME.cpp.
std::span<const CpuOperator> elementwise_operators() noexcept;
std::span<const CpuOperator> norm_operators() noexcept;
std::span<const CpuOperator> product_operators() noexcept;
std::span<const CpuOperator> move_operators() noexcept;
std::span<const CpuOperator> attention_operators() noexcept;
std::span<const CpuOperator> flash_attn_operators() noexcept;
std::span<const CpuOperator> reduce_operators() noexcept;
std::span<const CpuOperator> image_operators() noexcept;

// Rules of more than one family.
constexpr Answer yes{};
/// The result and sources 0 and 1 are of float types, with any strides.
Answer floats_only(const Tensor& node);
/// The result and source 0 (if there is one) are F32, the result's rows contiguous.
Answer f32_rows(const Tensor& node);
/// Rows can be read as floats, whatever their stride. `which`: what to say where they can't.
Answer readable(const Tensor& t, std::string_view which);

} // namespace schedscope::cpu
