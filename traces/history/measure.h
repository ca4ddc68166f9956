#pragma once

#include "traces/history/size_sum.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace schedscope {

/// How much of something there is, as closely as it is known.
struct Amount {
    int64_t n = 0;
    bool at_least = false;         ///< there may be more that is not known, as the nodes that a log leaves out
    std::optional<int64_t> listed; ///< of n, what is compared with one that is `at_least`: nodes that a log lists
    int64_t rounding = 0;          ///< it may be so many more or less: a log rounds sizes

    Amount(std::integral auto n_) : n(n_) {}
    Amount(int64_t n_, bool at_least_, std::optional<int64_t> listed_ = {}) : n(n_), at_least(at_least_), listed(listed_) {}
    /// Nothing: no size is known.
    static std::optional<Amount> of(const SizeSum& sum);

    bool operator==(const Amount&) const = default;
    bool is_exact() const noexcept { return !at_least && rounding == 0; }
    /// Nothing that is known of the two says that they differ. Two that are both `at_least` leave out alike.
    bool may_be(const Amount& other) const noexcept;
};

/// How much of something there is in two plans.
struct Measure {
    enum class Unit : uint8_t { count, bytes, time }; ///< time: ns
    std::string name;                                 ///< "nodes on Vulkan0", "bytes copied"
    Unit unit = Unit::count;
    std::optional<Amount> a, b; ///< nothing: not known, or there is none

    bool is_about = false; ///< b may be some percent larger or smaller

    /// Of one of them, for people: "48,310", "4.0 KiB", "12.4 µs", "at least 25", "about 0.89 MiB".
    std::string text(const std::optional<Amount>& amount, std::string_view if_none) const;
    std::string text_of_b(std::string_view if_none) const { return (is_about && b && a != b ? "about " : "") + text(b, if_none); }

    bool same() const noexcept { return a == b || (a && b && a->may_be(*b)); } ///< as far as is known
    /// Where they are the same, as the two are called: "37 (a: at least 25)".
    std::string text_of_same(std::string_view called_a, std::string_view called_b, std::string_view if_none) const;
    /// Where they are not, each; sizes that look alike in units are in bytes.
    std::pair<std::string, std::string> texts_of_each(std::string_view if_none) const;
};

} // namespace schedscope
