#pragma once

#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/ops/role.h"
#include "runtime/planner/placement/tensor_overrides.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// Norms of a layer are pinned to its device for fewer tokens than this, or where all layers are offloaded: else they may follow
/// the layer before and cost a copy.
constexpr int32_t small_batch = 32;

/// Why a node of that role (norm, attended) is pinned, where it is: "norms of a layer are pinned to its device when all layers
/// are offloaded". Empty: such nodes are not. is_small: its batch has fewer tokens than small_batch.
std::string_view why_pinned(Role role, bool is_small) noexcept;

/// Do devices of this kind (BackendInfo::kind) hold layers?
constexpr bool holds_layers(std::string_view kind) noexcept { return kind == "gpu" || kind == "software"; }

/// How errors begin: an option as the user wrote it.
struct PlacementWords {
    std::string_view overrides = "-ot "; ///< PATTERN=DEVICE follows
    std::string_view tensor_split = "-ts";
};

/// Is a weight that products read worth laying out? An encoder reads its own once for many patches, for which floats had better
/// lie as they are.
constexpr bool pays_laid_out(Type type, Role role) noexcept { return role != Role::encoder || !is_float(type); }

struct PlacedDevice {
    std::string name;         ///< "Vulkan0"
    std::string kind;         ///< BackendInfo::kind
    int64_t memory_bytes = 0; ///< 0: unknown
};

/// A placement and the reason for it.
struct HomeChoice {
    int32_t home = -1;    ///< index of a device; −1: nothing is placed
    std::string_view why; ///< for people; owned by the policy or a constant; empty: no rule speaks of the tensor
};

struct WeightHome : HomeChoice {
    int32_t wanted = -1;           ///< the home, if its device runs what reads the weight; else the home is the host
    bool is_for_cpu_alone = false; ///< no other device reads it: the CPU may lay it out, or copy it from the file
};

/// Pass 0: where a model's tensors belong before anything is planned. The one policy, for models that are loaded, dry runs,
/// replay and what-if. Its answers depend on nothing but what was asked for, the devices, the number of layers and a tensor's
/// part of the model (as who built the graph set it), for weights also the name. llama.cpp's rules.
class PlacementPolicy {
public:
    /// Does the device at this home run the operator in question?
    using Runs = std::function<bool(int32_t home)>;

    /// devices: by priority, the last one the host. Layers are counted from 0; layer n_layers is the output. With several devices
    /// that hold layers, each gets a run of them: layer i of the n offloaded ones goes to the first device whose cumulated share
    /// exceeds i/n. Missing shares are 0; where none is asked for, they are the memories, or all alike where a memory is unknown.
    /// Throws Error(usage) for a pattern or a device that is not understood and for shares that don't fit the devices.
    PlacementPolicy(const PlacementOptions& options, std::vector<PlacedDevice> devices, int32_t n_layers,
                    const PlacementWords& words = {});

    int32_t host() const noexcept { return n_of(devices_) - 1; }
    /// Of what has no such layer: the host.
    int32_t layer_home(int32_t layer) const noexcept { return of_layer(layer).home; }
    const TensorOverrides& overrides() const noexcept { return overrides_; }

    /// What lies where its layer lies.
    HomeChoice of_layer(int32_t layer) const noexcept;
    /// "block 0 of 5 is not offloaded"; empty: there is no such layer.
    std::string_view where_is_layer(int32_t layer) const noexcept;
    /// Keys and values of a layer.
    HomeChoice cache(int32_t layer) const noexcept;
    /// What samplers read: it lies with the output's matrix, wherever an override or its device put that. matrix: its home; −1:
    /// not known, so where the output's layer is.
    HomeChoice sampling(int32_t layer, int32_t matrix) const noexcept;
    /// A weight that this part of the model reads: where an override says, else with the part; on the host if that device can't
    /// run what reads it.
    WeightHome weight(std::string_view name, ModelPart part, const Runs& runs) const;
    /// Are weights of products laid out for the CPU? Only where it is alone: llama.cpp prefers memory that another device
    /// reads, and another device could not read what was laid out.
    bool repacks() const noexcept { return devices_.size() == 1; }
    /// Does the part alone say where a weight belongs? Else those that read it do.
    static bool places_weights(ModelPart part) noexcept {
        return part.role == Role::embedding || part.role == Role::encoder || (part.role != Role::none && part.layer >= 0);
    }
    /// The device that a node is pinned to. A reason without a home: it could have been pinned and is not.
    HomeChoice pin(Op op, ModelPart part, int32_t n_tokens, const Runs& runs) const;

    /// -fa auto: flash attention is on if each layer's device runs the layer's. nodes: of a graph that has it; tensor_of(node)
    /// has op and layer; runs(home, node).
    template <typename Nodes, typename TensorOf, typename RunsNode>
    bool flash_attention_everywhere(const Nodes& nodes, TensorOf&& tensor_of, RunsNode&& runs) const {
        return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
            const auto& tensor = tensor_of(node);
            return tensor.op != Op::FLASH_ATTN_EXT || runs(layer_home(tensor.layer), node);
        });
    }

private:
    struct ReasonedHome {
        int32_t home = 0;
        std::string where, why; ///< the second with what decided it
    };
    void place_layers(const PlacementOptions& options, int32_t n_layers, std::span<const int32_t> holders);

    std::vector<PlacedDevice> devices_;
    TensorOverrides overrides_;
    std::vector<ReasonedHome> layers_; ///< [n_layers + 1]
    ReasonedHome encoder_;
    bool cache_on_host_;
    bool full_offload_ = false;
};

} // namespace schedscope
