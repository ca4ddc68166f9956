#pragma once

#include "runtime/ops/layout.h"
#include "runtime/ops/op.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace schedscope {

/// An operator's parameters by name, from its line in catalogue.def.
template <Op op> struct OpParams;

#define SCHEDSCOPE_FIELDS(...) __VA_ARGS__
#define OPERATOR(name, fields, ...)                                                                                              \
    template <> struct OpParams<Op::name> { SCHEDSCOPE_FIELDS fields };
#include "runtime/ops/catalogue.def"
#undef SCHEDSCOPE_FIELDS

using RopeParams = OpParams<Op::ROPE>;

/// An operator's parameters as catalogue.def writes them, in the order in which a tensor carries them: "(float scale; float
/// max_bias;)".
constexpr std::string_view fields_of_params(Op op) noexcept {
    constexpr std::array<std::string_view, static_cast<size_t>(Op::count)> all{{
#define OPERATOR(name, fields, ...) #fields,
#include "runtime/ops/catalogue.def"
    }};
    return all[static_cast<size_t>(op)];
}

/// The parameters that a tensor of this operator carries.
template <Op op> OpParams<op> params_of(const Params& raw) noexcept {
    static_assert(std::is_trivially_copyable_v<OpParams<op>> && sizeof(OpParams<op>) <= sizeof(Params));
    OpParams<op> params;
    std::memcpy(static_cast<void*>(&params), raw.data(), sizeof params);
    return params;
}

/// As a tensor carries them; zeros behind them.
template <Op op> Params packed(const OpParams<op>& params) noexcept {
    Params raw{};
    std::memcpy(raw.data(), static_cast<const void*>(&params), sizeof params);
    return raw;
}

/// With a precision numbered as ggml numbers it now: what asks for the same is equal, whoever wrote it.
inline Params with_precision_as_now(std::optional<Op> op, const Params& raw) noexcept {
    const auto renumbered = [&]<Op known>() {
        auto params = params_of<known>(raw);
        params.precision = params.precision != 0 ? precision_f32 : 0;
        Params now = raw;
        std::memcpy(now.data(), static_cast<const void*>(&params), sizeof params);
        return now;
    };
    switch (op.value_or(Op::NONE)) {
    case Op::MUL_MAT: return renumbered.template operator()<Op::MUL_MAT>();
    case Op::MUL_MAT_ID: return renumbered.template operator()<Op::MUL_MAT_ID>();
    case Op::FLASH_ATTN_EXT: return renumbered.template operator()<Op::FLASH_ATTN_EXT>();
    default: return raw;
    }
}

/// "SILU", "SWIGLU", "MUL_MAT": see op.h.
inline std::string_view op_description(Op op, const Params& raw) noexcept { return op_description(op, raw[0]); }

} // namespace schedscope
