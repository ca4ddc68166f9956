#pragma once

#include "inspector/cli/run/run_arguments.h"

#include <functional>

namespace schedscope {

class Recorder;

/// Where a run's text and remarks go.
struct RunOutput {
    bool quiet = false; ///< nothing is printed while it runs: the inspector has the terminal
    const std::atomic<bool>* stop = nullptr;
};

/// Loads the model and generates; prints the text to stdout, all else to stderr. recorder may be null. Returns the text instead
/// of printing it when quiet. Throws Error.
std::string run_model(const RunArguments& arguments, Recorder* recorder, const RunOutput& output);

/// Plans what it would run, from the model's header alone. Returns how it fits: "fits: a 21.3 GiB of 24.0 GiB (40 blocks)";
/// empty: it was told what does not, or no device's memory is known.
std::string plan_model(const RunArguments& arguments, Recorder& recorder);

} // namespace schedscope
