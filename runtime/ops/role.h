#pragma once

#include "runtime/numbers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace schedscope {

/// Which part of a model a tensor belongs to. Who builds the graph says it. With the layer it is all that decides where a tensor
/// belongs before anything is planned (runtime/planner/placement); the planner's passes don't ask for it.
enum class Role : uint8_t {
    none,      ///< of no part, or of several: an input, a sum between two parts, a weight that two parts read
    embedding, ///< rows of tokens are looked up
    norm,      ///< a normalisation, with the weights that scale it
    attention,
    attended, ///< what the values add up to, before it is projected, where it is a node of its own (without flash attention)
    cache,    ///< keys and values that are kept
    feed_forward,
    router, ///< chooses experts
    experts,
    output,   ///< logits
    sampling, ///< tokens are chosen in the graph
    encoder,  ///< all of an image encoder and its projector
};

inline constexpr std::array<std::string_view, 12> role_names{"none",     "embedding", "norm",         "attention",
                                                             "attended", "cache",     "feed_forward", "router",
                                                             "experts",  "output",    "sampling",     "encoder"};
/// "feed_forward"
constexpr std::string_view role_name(Role role) noexcept { return role_names[ordinal(role)]; }
constexpr std::optional<Role> role_from_name(std::string_view name) noexcept {
    for (size_t i = 0; i < role_names.size(); ++i) {
        if (role_names[i] == name) {
            return static_cast<Role>(i);
        }
    }
    return std::nullopt;
}

/// A role in a layer of the model.
struct ModelPart {
    Role role = Role::none;
    int32_t layer = -1; ///< the output is the layer behind the last; −1: none
    bool operator==(const ModelPart&) const = default;
};

} // namespace schedscope
