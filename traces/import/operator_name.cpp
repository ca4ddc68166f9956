#include "traces/import/operator_name.h"

#include "runtime/numbers.h"

namespace schedscope::import {

namespace {

constexpr size_t width = 10;

bool shown_as(std::string_view name, std::string_view text) noexcept {
    return name.size() <= width ? name == text : name.substr(0, width) == text;
}

} // namespace

LoggedOp operator_from_log(std::string_view text) noexcept {
    // FLASH_ATTN_BACK begins the same, but since the forward operator has this name nothing can build it: ggml's function for it
    // aborts.
    if (text == std::string_view("FLASH_ATTN_EXT").substr(0, width)) {
        return {Op::FLASH_ATTN_EXT, std::nullopt};
    }
    LoggedOp found;
    int n = 0;
    for (int i = 1; i < ordinal(Op::count); ++i) {
        if (shown_as(op_name(static_cast<Op>(i)), text)) {
            found = {static_cast<Op>(i), std::nullopt};
            ++n;
        }
    }
    for (int32_t i = 0; i < ordinal(UnaryOp::count); ++i) {
        if (shown_as(unary_name(static_cast<UnaryOp>(i)), text)) {
            found = {Op::UNARY, i};
            ++n;
        }
    }
    for (int32_t i = 0; i < ordinal(GluOp::count); ++i) {
        if (shown_as(glu_name(static_cast<GluOp>(i)), text)) {
            found = {Op::GLU, i};
            ++n;
        }
    }
    return n == 1 ? found : LoggedOp{};
}

} // namespace schedscope::import
