#pragma once

#include "runtime/numbers.h"

#include <cstdint>
#include <string_view>

namespace schedscope {

/// Who decided, before anything was planned, in which memory a tensor lies or on which backend it runs: what must be known to say where it would be with
/// other devices or another number of offloaded layers.
enum class Home : uint8_t {
    none,       ///< none: the scheduler decides
    layer,      ///< it goes where its layer goes (weights only to a device that runs what reads them, else to the host)
    layer_norm, ///< its layer's norm: pinned to the layer's device when the batch is small or all is offloaded, and the device runs it
    shared,  ///< a weight of several layers: one in each memory that its readers' layers lie in
    encoder, ///< an image encoder's weight: on the first device that holds layers if any is offloaded (and runs what reads it, else on the host)
    host,    ///< the host, wherever the layers are
    user,    ///< where the user said (-ot)
};

/// "none" "layer" "layer_norm" "shared" "encoder" "host" "user".
constexpr std::string_view home_name(Home home) noexcept {
    constexpr std::string_view names[] = {"none", "layer", "layer_norm", "shared", "encoder", "host", "user"};
    return names[ordinal(home)];
}

} // namespace schedscope
