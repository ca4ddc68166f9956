#include "runtime/ops/op.h"

#include <array>

#include "runtime/numbers.h"

namespace schedscope {

namespace {

constexpr std::array<std::string_view, ordinal(Op::count)> op_names = {
#define OPERATOR(name, ...) #name,
#include "runtime/ops/catalogue.def"
};

constexpr std::array<std::string_view, ordinal(UnaryOp::count)> unary_names = {
#define UNARY_FUNCTION(name) #name,
#include "runtime/ops/catalogue.def"
};

constexpr std::array<std::string_view, ordinal(GluOp::count)> glu_names = {
#define GATE(name, function) #name,
#include "runtime/ops/catalogue.def"
};

constexpr auto none = UnaryOp::count; ///< for gates with a function that UNARY has not

constexpr std::array<UnaryOp, ordinal(GluOp::count)> gate_functions = [] {
    using enum UnaryOp;
    return std::array<UnaryOp, ordinal(GluOp::count)>{
#define GATE(name, function) function,
#include "runtime/ops/catalogue.def"
    };
}();

template <size_t N> std::string_view name_in(const std::array<std::string_view, N>& names, int64_t i) noexcept {
    return i >= 0 && static_cast<size_t>(i) < N ? names[i] : std::string_view("?");
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

std::vector<std::string_view> operation_names() {
    std::vector<std::string_view> names(op_names.begin(), op_names.end());
    names.insert(names.end(), unary_names.begin(), unary_names.end());
    names.insert(names.end(), glu_names.begin(), glu_names.end());
    return names;
}

std::optional<UnaryOp> function_of(GluOp gate) noexcept {
    const UnaryOp function = is_known(gate) ? gate_functions[ordinal(gate)] : none;
    return function != none ? std::optional(function) : std::nullopt;
}

std::optional<GluOp> gate_with(UnaryOp function) noexcept {
    for (size_t i = 0; i < gate_functions.size(); ++i) {
        if (gate_functions[i] == function && function != none) {
            return static_cast<GluOp>(i);
        }
    }
    return std::nullopt;
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
