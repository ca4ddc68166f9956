#pragma once

#include <limits>
#include <optional>
#include <type_traits>

namespace schedscope {

/// A number, an enumerator or an array of numbers that may be unknown, no larger than one that is known: a value that none has
/// (the number or enumerator at the end of its type) stands for it inside and is never seen outside. Otherwise a
/// std::optional, and turned into one. For records and tensors: a plan goes through hundreds of thousands.
template <typename T> class Known {
public:
    // NOLINTBEGIN(google-explicit-constructor,hicpp-explicit-conversions): as std::optional
    constexpr Known(T value) noexcept : value_(value) {}
    constexpr Known(std::nullopt_t) noexcept {}
    constexpr Known(const std::optional<T>& value) noexcept : value_(value ? *value : none) {}
    constexpr operator std::optional<T>() const noexcept { return has_value() ? std::optional(value_) : std::nullopt; }
    constexpr Known& operator=(T value) noexcept {
        value_ = value;
        return *this;
    }
    // NOLINTEND(google-explicit-constructor,hicpp-explicit-conversions)

    constexpr bool has_value() const noexcept { return value_ != none; }
    constexpr explicit operator bool() const noexcept { return has_value(); }
    constexpr const T& operator*() const noexcept { return value_; }
    constexpr T& operator*() noexcept { return value_; }
    constexpr const T* operator->() const noexcept { return &value_; }
    constexpr T* operator->() noexcept { return &value_; }
    constexpr T value_or(T otherwise) const noexcept { return has_value() ? value_ : otherwise; }
    constexpr void reset() noexcept { value_ = none; }
    friend constexpr bool operator==(const Known&, const Known&) noexcept = default;

private:
    template <typename V> static constexpr V of_none() noexcept {
        if constexpr (std::is_enum_v<V>) {
            return static_cast<V>(std::numeric_limits<std::underlying_type_t<V>>::max());
        } else if constexpr (std::is_signed_v<V>) {
            return std::numeric_limits<V>::min();
        } else if constexpr (std::is_unsigned_v<V>) {
            return std::numeric_limits<V>::max();
        } else {
            V none{};
            none.front() = of_none<typename V::value_type>();
            return none;
        }
    }
    static constexpr T none = of_none<T>();
    T value_ = none;
};

} // namespace schedscope
