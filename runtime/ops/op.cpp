#include "runtime/ops/op.h"

#include <array>

namespace schedscope {

namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Op::count)> op_names = {{
#define X(name) #name,
    SCHEDSCOPE_OPS(X)
#undef X
}};

constexpr std::array<std::string_view, static_cast<size_t>(UnaryOp::count)> unary_names = {
    "ABS",       "SGN",         "NEG", "STEP",  "TANH",     "ELU",      "RELU",  "SIGMOID", "GELU", "GELU_QUICK", "SILU",
    "HARDSWISH", "HARDSIGMOID", "EXP", "EXPM1", "SOFTPLUS", "GELU_ERF", "XIELU", "FLOOR",   "CEIL", "ROUND",      "TRUNC"};

constexpr std::array<std::string_view, static_cast<size_t>(GluOp::count)> glu_names = {"REGLU",      "GEGLU",     "SWIGLU",
                                                                                       "SWIGLU_OAI", "GEGLU_ERF", "GEGLU_QUICK"};

template <size_t N> std::string_view name_in(const std::array<std::string_view, N>& names, int64_t i) noexcept {
    return i >= 0 && static_cast<size_t>(i) < N ? names[static_cast<size_t>(i)] : std::string_view("?");
}

} // namespace

std::string_view op_name(Op op) noexcept { return name_in(op_names, static_cast<int64_t>(op)); }
std::string_view unary_name(UnaryOp op) noexcept { return name_in(unary_names, static_cast<int64_t>(op)); }
std::string_view glu_name(GluOp op) noexcept { return name_in(glu_names, static_cast<int64_t>(op)); }

std::string_view op_description(Op op, int32_t param0) noexcept {
    switch (op) {
    case Op::UNARY: return name_in(unary_names, param0);
    case Op::GLU: return name_in(glu_names, param0);
    default: return op_name(op);
    }
}

std::optional<Op> op_from_name(std::string_view name) noexcept {
    for (size_t i = 0; i < op_names.size(); ++i) {
        if (op_names[i] == name) {
            return static_cast<Op>(i);
        }
    }
    return std::nullopt;
}

} // namespace schedscope
