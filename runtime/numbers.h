#pragma once

#include <cstdint>
#include <type_traits>

/// Numbers of things, as ids and tables count them. An index is written as it is: that a number changes its sign is no warning here (CMakeLists.txt).
namespace schedscope {

/// Where an enumerator stands in its list: what an array of one entry each is indexed with, and `ordinal(E::count)` its size.
template <typename E> constexpr auto ordinal(E enumerator) noexcept {
    static_assert(std::is_enum_v<E>);
    return static_cast<std::underlying_type_t<E>>(enumerator);
}

/// How many elements a container has, in the 32 bits of our ids.
template <typename Container> constexpr int32_t n_of(const Container& elements) noexcept {
    return static_cast<int32_t>(elements.size());
}

} // namespace schedscope
