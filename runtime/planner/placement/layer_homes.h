#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// Norms of a layer are pinned to its device for fewer tokens than this, or where all layers are offloaded: else they may follow the layer before and cost a copy.
constexpr int32_t small_batch = 32;

/// Do devices of this kind (device_kind_name) hold layers?
constexpr bool holds_layers(std::string_view kind) noexcept { return kind == "gpu" || kind == "software"; }

/// A backend that can hold layers.
struct LayerHolder {
    int32_t home = 0;         ///< its number
    int64_t memory_bytes = 0; ///< 0: unknown
};

/// Where each of n_layer layers lives, and behind them the output: [n_layer + 1] homes. The output and the last n_gpu_layers − 1 layers are offloaded; each
/// holder gets a run of them: layer i of the n offloaded ones goes to the first whose cumulated share exceeds i/n. Shares: as asked (missing ones are 0),
/// by memory where nothing is asked, all alike where a memory is unknown.
std::vector<int32_t> layer_homes(int32_t n_layer, int32_t n_gpu_layers, std::span<const LayerHolder> holders,
                                 std::span<const float> asked, int32_t host);

/// Where an image encoder lives: on the first holder if any layer is offloaded, else on the host. (llama.cpp's rule: the first GPU.)
int32_t encoder_home(int32_t n_gpu_layers, std::span<const LayerHolder> holders, int32_t host) noexcept;

/// Are they all, the output included, on holders?
bool all_offloaded(int32_t n_layer, int32_t n_gpu_layers, std::span<const LayerHolder> holders) noexcept;

} // namespace schedscope
