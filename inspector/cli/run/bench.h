#pragma once

#include "runtime/gguf/gguf.h"
#include "runtime/session/run_options.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

class Registry;

/// What is to be measured.
struct BenchRequest {
    RunOptions run;           ///< devices are those of each case
    int32_t n_prompt = 512;   ///< tokens of a prompt; 0: none is measured
    int32_t n_generate = 128; ///< tokens one by one; 0: none
    int repetitions = 5;
    bool warm_up = true;              ///< a first run of each is not counted
    std::vector<std::string> devices; ///< a case for each list
    const std::atomic<bool>* stop = nullptr;
    std::function<void(std::string_view doing)> progress = {};
};

/// Repeated measurements.
struct Measured {
    double mean = 0, deviation = 0; ///< of the sample; 0 for a single one
};
std::optional<Measured> mean_of(std::span<const double> values); ///< nothing: there are none

/// One list of devices.
struct BenchCase {
    std::string devices;                        ///< as shown: "Vulkan0, CPU"
    bool on_processors = true;                  ///< nothing runs on hardware of another kind, so that the machine's limits hold
    std::optional<Measured> prompt, generation; ///< tokens a second
    // Of the plan that generating a token makes.
    int64_t n_nodes = 0;
    int n_splits = 0;
    std::optional<Measured> planning, allocation; ///< nanoseconds a node: passes 1 to 5; memory planned again
    /// How much longer generating takes while a trace is written with these times: 0.01 is one percent.
    struct RecordingCost {
        KernelTimes times;
        Measured longer;
    };
    std::vector<RecordingCost> recording;
    std::string why_not_recorded; ///< instead: a sentence
};

/// What the weights ask of a machine.
struct BenchWork {
    double bytes_per_token = 0; ///< of weights that one token more has to read
    double flops_per_prompt_token =
        0; ///< multiply-adds with weights, each two; the output is for the last token alone, and left out
};
BenchWork work_of(const gguf::File& file);

/// Measures each case in turn. Throws Error as a run does. Ends early, with what is complete, once `stop` is set.
std::vector<BenchCase> run_bench(const Registry& registry, const std::shared_ptr<const gguf::File>& file,
                                 const BenchRequest& request);

} // namespace schedscope
