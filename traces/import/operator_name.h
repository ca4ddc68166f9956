#pragma once

#include "runtime/ops/op.h"

#include <optional>
#include <string_view>

namespace schedscope::import {

/// An operator and, of UNARY and GLU, which one (op parameter 0; nothing: the log does not show it).
struct LoggedOp {
    std::optional<Op> op;
    std::optional<int32_t> which;
};

/// By its name or description as a node line has it, cut to 10 bytes. No operator: not known here, or several begin so.
LoggedOp operator_from_log(std::string_view text) noexcept;

} // namespace schedscope::import
