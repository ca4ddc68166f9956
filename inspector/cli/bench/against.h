#pragma once

#include "inspector/cli/bench/bench.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope {

/// What is measured beside another program.
struct AgainstRequest {
    BenchRequest bench;  ///< with a model that is a file, and batches of one
    std::string command; ///< for `sh -c`; it gets the settings as the variables BENCH_MODEL, BENCH_PROMPT, BENCH_GEN, BENCH_DEPTH
                         ///< and BENCH_THREADS, and prints what read_rates reads
    /// This program's arguments behind `bench` that settle all but the case: devices, threads, tokens and depth.
    std::vector<std::string> own_arguments;
};

/// A test of both: of each what its repetitions gave, and of each repetition the one's through the other's.
struct Compared {
    Measured ours, theirs, ratio;
};

/// One list of devices with one number of threads at one depth.
struct AgainstCase {
    std::string devices;
    int n_threads = 0;
    int32_t depth = 0;
    bool on_processors = false;                 ///< as BenchCase
    std::optional<Compared> prompt, generation; ///< tokens a second
    Compared processor_s;                       ///< seconds of a processor's time, of the whole program
};

/// Measures each case in turn. A repetition is a process of each program, as the kernel counts their time; which of them goes
/// first changes from one to the next. Throws Error(device) where one of them fails, Error(input) as read_rates, and Interrupted.
std::vector<AgainstCase> run_against(const AgainstRequest& request);

} // namespace schedscope
