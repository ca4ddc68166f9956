#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace schedscope {

/// Every operator of the ggml family: catalogue.def has a line for each.
enum class Op : uint8_t {
#define OPERATOR(name, ...) name,
#include "runtime/ops/catalogue.def"
    count,
};

/// What UNARY does; stored in op parameter 0. Numbers are ggml's.
enum class UnaryOp : int32_t {
#define UNARY_FUNCTION(name) name,
#include "runtime/ops/catalogue.def"
    count,
};

/// What GLU does; stored in op parameter 0 (numbers are ggml's); parameter 1: 1 when the halves of a single source are swapped.
enum class GluOp : int32_t {
#define GATE(name, function) name,
#include "runtime/ops/catalogue.def"
    count,
};

/// What POOL_2D does with a window.
enum class Pool : int32_t { max, avg };

/// The precision of MUL_MAT, MUL_MAT_ID and FLASH_ATTN_EXT where scores may exceed what half floats hold: GGML_PREC_F32. 0: as
/// the backend likes. Older builds of ggml wrote 1, which asks for the same.
inline constexpr int32_t precision_f32 = 10;

std::string_view op_name(Op op) noexcept;
std::string_view unary_name(UnaryOp op) noexcept;
std::string_view glu_name(GluOp op) noexcept;

/// The operator's own name for UNARY and GLU ("SILU", "SWIGLU"), its catalogue name otherwise. `param0`: op parameter 0.
std::string_view op_description(Op op, int32_t param0) noexcept;

/// All that op_description gives: operators of the catalogue, functions of UNARY, gates of GLU.
std::vector<std::string_view> operation_names();

/// By catalogue name, exact case. Nothing if there is no such operator.
std::optional<Op> op_from_name(std::string_view name) noexcept;

/// Is it in the catalogue? An imported log may not say which function or gate it was.
constexpr bool is_known(UnaryOp function) noexcept { return function >= UnaryOp{} && function < UnaryOp::count; }
constexpr bool is_known(GluOp gate) noexcept { return gate >= GluOp{} && gate < GluOp::count; }

/// The function of one value that a gate applies. Nothing if UNARY has none of this kind.
std::optional<UnaryOp> function_of(GluOp gate) noexcept;
/// The gate that applies the function. Nothing if there is none.
std::optional<GluOp> gate_with(UnaryOp function) noexcept;

} // namespace schedscope
