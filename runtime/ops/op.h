#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace schedscope {

/// Every operator of the ggml family, by its name there. Not all can be run by our backends; all can be planned.
/// X(name) in the order of the catalogue.
// clang-format off
#define SCHEDSCOPE_OPS(X) \
    X(NONE) X(DUP) X(ADD) X(ADD_ID) X(ADD1) X(ACC) X(SUB) X(MUL) X(DIV) X(SQR) X(SQRT) X(LOG) X(SIN) X(COS) X(SUM) \
    X(SUM_ROWS) X(CUMSUM) X(MEAN) X(ARGMAX) X(COUNT_EQUAL) X(REPEAT) X(REPEAT_BACK) X(CONCAT) X(SILU_BACK) X(NORM) \
    X(RMS_NORM) X(RMS_NORM_BACK) X(GROUP_NORM) X(L2_NORM) X(MUL_MAT) X(MUL_MAT_ID) X(OUT_PROD) X(SCALE) X(SET) X(CPY) \
    X(CONT) X(RESHAPE) X(VIEW) X(PERMUTE) X(TRANSPOSE) X(GET_ROWS) X(GET_ROWS_BACK) X(SET_ROWS) X(DIAG) X(DIAG_MASK_INF) \
    X(DIAG_MASK_ZERO) X(SOFT_MAX) X(SOFT_MAX_BACK) X(ROPE) X(ROPE_BACK) X(CLAMP) X(CONV_TRANSPOSE_1D) X(IM2COL) \
    X(IM2COL_BACK) X(IM2COL_3D) X(CONV_2D) X(CONV_3D) X(CONV_2D_DW) X(CONV_TRANSPOSE_2D) X(POOL_1D) X(POOL_2D) \
    X(POOL_2D_BACK) X(UPSCALE) X(PAD) X(PAD_REFLECT_1D) X(ROLL) X(ARANGE) X(TIMESTEP_EMBEDDING) X(ARGSORT) X(TOP_K) \
    X(LEAKY_RELU) X(TRI) X(FILL) X(FLASH_ATTN_EXT) X(FLASH_ATTN_BACK) X(SSM_CONV) X(SSM_SCAN) X(WIN_PART) X(WIN_UNPART) \
    X(GET_REL_POS) X(ADD_REL_POS) X(RWKV_WKV6) X(GATED_LINEAR_ATTN) X(RWKV_WKV7) X(SOLVE_TRI) X(GATED_DELTA_NET) \
    X(UNARY) X(MAP_CUSTOM1) X(MAP_CUSTOM2) X(MAP_CUSTOM3) X(CUSTOM) X(CROSS_ENTROPY_LOSS) X(CROSS_ENTROPY_LOSS_BACK) \
    X(OPT_STEP_ADAMW) X(OPT_STEP_SGD) X(GLU)
// clang-format on

enum class Op : uint8_t {
#define X(name) name,
    SCHEDSCOPE_OPS(X)
#undef X
        count,
};

/// What UNARY does; stored in op parameter 0. Numbers are ggml's.
enum class UnaryOp : int32_t {
    ABS,
    SGN,
    NEG,
    STEP,
    TANH,
    ELU,
    RELU,
    SIGMOID,
    GELU,
    GELU_QUICK,
    SILU,
    HARDSWISH,
    HARDSIGMOID,
    EXP,
    EXPM1,
    SOFTPLUS,
    GELU_ERF,
    XIELU,
    FLOOR,
    CEIL,
    ROUND,
    TRUNC,
    count,
};

/// What GLU does; stored in op parameter 0 (numbers are ggml's); parameter 1: 1 when the halves of a single source are swapped.
enum class GluOp : int32_t { REGLU, GEGLU, SWIGLU, SWIGLU_OAI, GEGLU_ERF, GEGLU_QUICK, count };

std::string_view op_name(Op op) noexcept;
std::string_view unary_name(UnaryOp op) noexcept;
std::string_view glu_name(GluOp op) noexcept;

/// The operator's own name for UNARY and GLU ("SILU", "SWIGLU"), its catalogue name otherwise. `param0`: op parameter 0.
std::string_view op_description(Op op, int32_t param0) noexcept;

/// By catalogue name, exact case. Nothing if there is no such operator.
std::optional<Op> op_from_name(std::string_view name) noexcept;

/// The four operators that move no data.
constexpr bool is_view_op(Op op) noexcept {
    return op == Op::VIEW || op == Op::RESHAPE || op == Op::PERMUTE || op == Op::TRANSPOSE;
}

} // namespace schedscope
