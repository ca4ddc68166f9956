#pragma once

#include "runtime/planner/records.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// The fact of a session that says what a plan needs of one kind of memory begins so: "memory of Vulkan0".
inline constexpr std::string_view memory_fact = "memory of ";

/// What is said of memory that is too small: "does not fit", or of paged one "does not fit at once".
std::string_view misfit_words(bool paged) noexcept;

/// Memory in which what a plan needs does not fit. Who plans writes it down as a fact; every face says it from there.
struct MemoryMisfit {
    std::string memory;     ///< "Vulkan0"
    std::string need;       ///< "21.3 GiB of 12.0 GiB (weights 20.1 GiB: 40 blocks, the output; compute 0.2 GiB)"
    bool paged = false;     ///< host memory: weights that do not fit are read from their file again
    std::string what_would; ///< behind that: "; -ngl 12 is the most that the devices hold"

    /// "Vulkan0: what was placed there does not fit: 21.3 GiB of …; -ngl 12 is the most that the devices hold"
    std::string text() const;
    std::string brief() const; ///< "Vulkan0 does not fit: 21.3 GiB of 12.0 GiB"
    std::string fact() const;  ///< the value of its fact
};
std::vector<MemoryMisfit> memory_misfits(const SessionInfo& session);

} // namespace schedscope
