#pragma once

#include "runtime/numbers.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope {

/// Weights in whose names the regular expression is found go to the device.
struct TensorOverride {
    std::string pattern;
    std::string device; ///< in any case

    std::string text() const { return pattern + "=" + device; }
    bool operator==(const TensorOverride&) const = default;
    /// "PATTERN=DEVICE". option: how the error begins. Throws Error(usage) when there is no '=' or nothing in front of it.
    static TensorOverride parse(std::string_view text, std::string_view option = "-ot ");
};

constexpr int32_t all_gpu_layers = 999; ///< -ngl all: more than any model has

/// Where the model's tensors are asked to be.
struct PlacementOptions {
    int32_t n_gpu_layers = 99;                  ///< -ngl: the output layer and the last n − 1 blocks go to devices
    std::vector<float> tensor_split = {};       ///< -ts: shares of the devices that hold layers; empty: by their memory
    std::vector<TensorOverride> overrides = {}; ///< -ot: the first whose pattern is found in a weight's name says where it goes
    bool cache_on_host = false;                 ///< -nkvo
    bool output_last = false; ///< -ngl as llama.cpp counted it before #18148: the last n blocks, the output layer behind all
    bool operator==(const PlacementOptions&) const = default;
};

enum class FlashAttention : uint8_t { off, on, automatic }; ///< automatic: on if every device that holds a layer supports it

/// "off" "on" "auto".
constexpr std::string_view flash_attention_name(FlashAttention asked) noexcept {
    constexpr std::string_view names[] = {"off", "on", "auto"};
    return names[ordinal(asked)];
}
std::optional<FlashAttention> flash_attention_from_name(std::string_view name) noexcept;

/// What the graphs of a text model depend on, beside the model and what goes in. Nothing: there is no text model, or it is not
/// known.
struct ContextSettings {
    std::optional<int32_t> n_ctx, n_batch, n_ubatch; ///< tokens: of the cache, of what is handed in at once, of an evaluation
    std::optional<Type> cache_type_k, cache_type_v;
    bool operator==(const ContextSettings&) const = default;
};

/// Weights that the CPU lays out for its matrix products where it is alone (PlacementPolicy::repacks): matrices of this type with
/// so many rows, or a multiple, that are long enough.
struct LaidOutType {
    Type type = Type::F32;
    int64_t rows = 1;        ///< lie side by side
    int64_t longer_than = 0; ///< elements
    bool is_copy = false;    ///< of a matrix in which rows are looked up, too; else such a matrix is not laid out

    bool takes(const Shape& ne) const noexcept { return ne[0] > longer_than && ne[1] % rows == 0 && ne[2] == 1 && ne[3] == 1; }
    bool operator==(const LaidOutType&) const = default;
};
constexpr std::string_view laid_out_memory = "CPU_Repack"; ///< the buffer type in which they lie

/// All that plans depend on beside the devices and the models: what was asked for, and what that came to.
struct PlanSettings {
    PlacementOptions placement;
    int32_t n_layers = 0; ///< of the model; of the image encoder where there is no other
    FlashAttention flash_attention_asked = FlashAttention::off;
    std::optional<bool> flash_attention; ///< what it came to; none: there is no text model
    bool op_offload = true;
    int64_t offload_min_batch = 32;
    int32_t n_stages = 1;
    bool fusion = true;
    ContextSettings context = {};
    std::vector<LaidOutType> laid_out = {}; ///< none: no weight is, or it is not known
    bool operator==(const PlanSettings&) const = default;
};

/// "3", "all", as -ngl takes it.
std::string gpu_layers_text(int32_t n_gpu_layers);
/// "3,1", as -ts takes it.
std::string shares_text(const std::vector<float>& shares);

/// For people: ("n_gpu_layers", "3") and so on, each with the name that it has in lists of a session's facts.
std::vector<std::pair<std::string, std::string>> settings_in_words(const PlanSettings& settings);

} // namespace schedscope
