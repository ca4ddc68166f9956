#pragma once

#include <cstdint>
#include <optional>

namespace schedscope {

/// Sizes added up, each of which may be unknown.
struct SizeSum {
    int64_t bytes = 0;    ///< of those that are known
    bool complete = true; ///< all are
    int64_t rounding = 0; ///< bytes that the sum may be off, where sizes were rounded
    int64_t slack = 0;    ///< bytes that the sum may be larger, where sizes were rounded down

    void add(std::optional<int64_t> size, int64_t rounding_of_it = 0) noexcept {
        bytes += size.value_or(0);
        complete = complete && size;
        rounding += rounding_of_it;
    }
    void add(const SizeSum& other) noexcept {
        bytes += other.bytes;
        complete = complete && other.complete;
        rounding += other.rounding;
        slack += other.slack;
    }
    bool operator==(const SizeSum&) const = default;
    bool is_exact() const noexcept { return complete && rounding == 0 && slack == 0; }
    std::optional<int64_t> known() const noexcept { return complete ? std::optional(bytes) : std::nullopt; }
};

} // namespace schedscope
