#pragma once

#include "runtime/system/number_words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

/// How much of something there is in two plans.
struct Measure {
    enum class Unit : uint8_t { count, bytes, time }; ///< time: ns
    std::string name;                                 ///< "nodes on Vulkan0", "bytes copied"
    Unit unit = Unit::count;
    std::optional<int64_t> a, b; ///< nothing: not known, or there is none

    bool is_about = false; ///< b may be some percent larger or smaller

    std::string text_of_b(std::string_view if_none) const { return (is_about && b && a != b ? "about " : "") + text(b, if_none); }
    /// Of one of them, for people: "48,310", "4.0 KiB", "12.4 µs".
    std::string text(const std::optional<int64_t>& amount, std::string_view if_none) const {
        return !amount               ? std::string(if_none)
               : unit == Unit::bytes ? words::bytes(*amount)
               : unit == Unit::time  ? words::duration(*amount)
                                     : words::count(*amount);
    }
};

} // namespace schedscope
