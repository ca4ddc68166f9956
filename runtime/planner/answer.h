#pragma once

#include <cstdint>
#include <string_view>

namespace schedscope {

/// Why a backend refuses an operator. not_asked: it may run it, but no answer of its is known.
enum class Refusal : uint8_t { none, op, type, shape, size_limit, layout, memory, feature, not_asked };

/// "op", "type", "shape", "size limit", "layout", "memory", "missing device feature", "not asked".
std::string_view refusal_name(Refusal reason) noexcept;

/// The answer to a capability question. `detail` is a constant of the program (or of whoever answers, living as long): "source 1
/// is not F32".
struct Answer {
    bool yes = true;
    Refusal reason = Refusal::none;
    std::string_view detail;

    static constexpr Answer no(Refusal reason, std::string_view detail) { return {false, reason, detail}; }
};

} // namespace schedscope
