#pragma once

#include "runtime/planner/recorder.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::test {

/// What is set otherwise for a recording than its seed says.
struct RecordingSettings {
    std::optional<std::vector<std::string>> devices;  ///< these backends in this order; the CPU is added
    std::optional<std::pair<std::string, Op>> refuse; ///< device, operator
    std::optional<int> stages;
    std::optional<bool> op_offload;
    std::optional<int64_t> min_batch;
};

/// Plans some graphs for a machine, one after the other through one planner, and records each as an evaluation, as a run would.
/// All GPUs of it offer offload.
void record_randomly(uint32_t seed, const RecordingSettings& settings, Recorder& recorder);

/// Names of a seed's backends by priority, and which of them is a device of its own (and not another queue of one).
struct MachineNames {
    std::vector<std::string> backends, devices;
};
MachineNames names_of_machine(uint32_t seed);

} // namespace schedscope::test
