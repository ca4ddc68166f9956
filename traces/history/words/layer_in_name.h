#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace schedscope {

/// A layer, and where a tensor's name says it.
struct LayerInName {
    int32_t layer = 0;
    size_t first = 0, end = 0;     ///< of what belongs to the number: "blk.3.", "-3", "_l3"
    size_t number = 0, behind = 0; ///< of the number: "3"
};

/// In a name, or in a text that ends in one: "blk.3.attn_q.weight", "Qcur-3", "cache_k_l3 (view)", "Vulkan0#norm-3#0". Nothing:
/// it is of no layer.
std::optional<LayerInName> layer_in_name(std::string_view name) noexcept;
std::optional<int32_t> layer_of_name(std::string_view name) noexcept;

} // namespace schedscope
