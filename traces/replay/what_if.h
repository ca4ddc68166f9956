#pragma once

#include "runtime/planner/device_profile.h"
#include "runtime/planner/placement/plan_settings.h"
#include "traces/replay/replay.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// What only those know who know the backends, to plan a trace again.
struct BackendKnowledge {
    OptimiseNodes optimise; ///< ReplayOptions'; empty: groups and orders that aren't recorded are left out
    ProfileSource profiles; ///< WhatIf's
};

/// What else might have been asked for, as `replay --set` says it; answered from the records of a trace.
///
/// Settings stand in place of the recorded ones; the others stay. Where the model's tensors belong is decided again by the policy
/// that decided it then (planner/placement); of another program's, by llama.cpp's names (foreign/named_parts.h). With `-fa auto`
/// the runtime asks the devices, so that flash attention may change, too. The graph with flash attention on or off is one that
/// the recording kept beside each plan's.
struct WhatIf {
    struct RefusedOp {
        std::string device;
        std::string op; ///< "UNARY", or one of it: "SILU"; or a word of the recorded program's own
        bool is(const TensorInfo& node) const noexcept { return op_name(node) == op || op_description(node) == op; }
    };
    std::optional<int32_t> n_gpu_layers; ///< ngl=N
    std::vector<std::string>
        device_order;                ///< device-order=vulkan0,cpu: these and no others; the CPU is last and added if missing.
                                     ///< Also described ones (device_profile.h): of a recorded name in that one's place
    std::vector<RefusedOp> refusals; ///< refuse=DEVICE:OP
    std::vector<TensorOverride> overrides;    ///< ot=PATTERN=DEVICE: all that there are, in their order
    std::vector<float> tensor_split;          ///< ts=A,B; empty: not said
    std::optional<bool> cache_on_host;        ///< nkvo=on|off
    std::optional<bool> flash_attention;      ///< fa=on|off
    std::optional<int32_t> stages;            ///< stages=N, 1 to 16
    std::optional<bool> op_offload;           ///< op-offload=on|off
    std::optional<int64_t> offload_min_batch; ///< offload-min-batch=N
    std::optional<bool> fusion;               ///< fusion=on|off

    ProfileSource profiles; ///< of described devices that no trace recorded; empty: there are none
    /// The recorded backends' own (recorded_profile.h), where many changes of one trace are tried; empty: made if they are
    /// needed.
    std::vector<std::shared_ptr<const DeviceProfile>> recorded;

    /// Adds one setting. Throws Error(usage), which begins with the setting, when it is not understood.
    void set(std::string_view setting);
};

/// The settings there are, as `set` takes them, and what each of them can be: "on|off", what kind of value ("DEVICE:OP"), or one
/// of them ("vulkan0,cpu").
struct WhatIfSetting {
    std::string_view name, value, help;
    bool of_any = false; ///< answered of each trace; else it must be known where the model's tensors were asked to be
};
std::span<const WhatIfSetting> what_if_settings() noexcept;
/// What a setting can begin with, for completion: "ngl=", "fa=on", "fa=off".
std::vector<std::string> what_if_beginnings();

/// Does a graph attend with flash attention, or without? Nothing: it does not attend.
std::optional<bool> flash_attention_of(const OwnedGraph& graph) noexcept;

/// Options for `replay` with these changes. The source must outlive them. Throws Error(usage) when the trace has no such device,
/// or the change can't be answered from it.
ReplayOptions options_for(const WhatIf& what_if, const RecordSource& source);

} // namespace schedscope
