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

/// What is to be measured: of each list of devices with each number of threads, each of the tests.
struct BenchRequest {
    RunOptions run;                     ///< devices and threads are those of each case
    int32_t n_prompt = 512;             ///< tokens of a prompt; 0: none is measured
    int32_t n_generate = 128;           ///< tokens one by one; 0: none
    std::vector<int32_t> depths = {0};  ///< tokens that stand in front of what is measured
    std::vector<int32_t> batches = {1}; ///< sequences that are continued together, in front of which the same tokens stand
    int repetitions = 5;
    bool warm_up = true;              ///< a first run of each is not counted
    bool overheads = true;            ///< what planning and recording cost, too
    std::vector<std::string> devices; ///< lists
    std::vector<int> threads;         ///< 0: physical cores
    const std::atomic<bool>* stop = nullptr;
    std::function<void(std::string_view doing)> progress = {};
};

/// Repeated measurements.
struct Measured {
    double mean = 0, deviation = 0; ///< of the sample; 0 for a single one
};
std::optional<Measured> mean_of(std::span<const double> values); ///< nothing: there are none

/// Tokens a second of a prompt, or of what follows one.
struct BenchTest {
    int32_t n_prompt = 0, n_generate = 0; ///< one of them; n_generate: evaluations, each of a token a sequence
    int32_t depth = 0;
    int32_t sequences = 1;
    std::optional<Measured> tokens_per_s = {}; ///< of all sequences; nothing: it was stopped

    std::string name() const; ///< "pp512", "tg128 x8 @ d1500"
};
/// Prompts and generation at each depth, the latter of as many sequences as each batch says.
std::vector<BenchTest> tests_of(const BenchRequest& request);

/// One list of devices with one number of threads.
struct BenchCase {
    std::string devices; ///< as shown: "Vulkan0, CPU"
    int n_threads = 0;
    bool on_processors = true;    ///< nothing runs on hardware of another kind, so that the machine's limits hold
    std::vector<BenchTest> tests; ///< as tests_of
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

/// Measures each case in turn. Throws Error as a run does. Ends early, with what is complete, once `stop` is set.
std::vector<BenchCase> run_bench(const Registry& registry, const std::shared_ptr<const gguf::File>& file,
                                 const BenchRequest& request);

} // namespace schedscope
