#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

/// Numbers of things, as ids and tables count them. An index into a container is written without a cast, be it an int32_t:
/// compilers are told to let signs be (CMakeLists.txt).
namespace schedscope {

/// Where an enumerator stands in its list: what an array of one entry each is indexed with, and `ordinal(E::count)` its size.
template <typename E>
requires std::is_enum_v<E>
constexpr auto ordinal(E enumerator) noexcept { return static_cast<std::underlying_type_t<E>>(enumerator); }

/// A number in a type that has room for it, which builds with assertions check.
template <std::integral To, std::integral From> constexpr To narrow(From n) noexcept {
    assert(std::in_range<To>(n));
    return static_cast<To>(n);
}

/// In the 32 bits of our ids and of lengths on a screen.
template <std::integral From> constexpr int32_t int_of(From n) noexcept { return narrow<int32_t>(n); }

/// The nearest number that a float, or a double, has.
template <typename Number>
requires std::is_arithmetic_v<Number>
constexpr float to_float(Number n) noexcept { return static_cast<float>(n); }
template <typename Number>
requires std::is_arithmetic_v<Number>
constexpr double to_double(Number n) noexcept { return static_cast<double>(n); }

/// May `elements` be asked for the one at this place? Never for a negative one.
template <std::integral Index, typename Container> constexpr bool is_index(Index at, const Container& elements) noexcept {
    return std::cmp_greater_equal(at, 0) && std::cmp_less(at, elements.size());
}

/// How many elements a container has.
template <typename Container> constexpr int32_t n_of(const Container& elements) noexcept { return int_of(elements.size()); }

} // namespace schedscope
