#pragma once

#include <cstdint>

/// Counts what is taken from the heap, by any thread of this program: malloc and its relatives are replaced (operator new calls
/// them).
namespace schedscope::test {

/// Ours: what this program and its C++ library ask for. Not ours: what a driver or the Vulkan loader asks for.
enum class Whose : uint8_t { everybodys, ours };

long heap_allocations(Whose whose) noexcept;

/// From here on the program ends in a core dump, for a debugger, at an allocation of ours. SCHEDSCOPE_STOP_AT_ALLOCATION=1 in the
/// environment asks for it.
void watch_allocations(bool on) noexcept;

} // namespace schedscope::test
