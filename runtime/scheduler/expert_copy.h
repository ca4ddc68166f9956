#pragma once

#include "runtime/backend/backend.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedscope {

/// An expert product whose stacked weights are copied into its split. total 0: it is no such input.
struct ExpertUse {
    const Tensor* ids = nullptr; ///< [e, t] I32, which experts are used
    int64_t total = 0;
};
struct CopiedExperts {
    int64_t count = 0;
    int64_t bytes = 0;
};

/// Memory that is used again from copy to copy; it holds nothing between them.
struct ExpertScratch {
    std::vector<std::byte> ids;
    std::vector<uint8_t> used; ///< by expert
};

/// Is `target` the copy of expert weights that lie in host memory, read by an expert product that starts the split?
ExpertUse used_experts(const SplitGraph& split, const Tensor& source, const Tensor& target) noexcept;

/// Copies only the experts that the ids name, neighbours in one piece. The ids' data must be complete.
CopiedExperts copy_used_experts(const ExpertUse& use, const Tensor& source, const Tensor& target, ExpertScratch& scratch);

} // namespace schedscope
