#pragma once

#include "runtime/system/budget.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

class Recorder;

std::string log_name(const std::string& path); ///< "standard input" for "-"

/// What an import came to.
struct ImportResult {
    int32_t n_graphs = 0; ///< one evaluation each
    int64_t n_splits = 0, n_nodes = 0;
    std::vector<std::string>
        notes;            ///< what the log lacks or what was not understood, each a sentence; in the trace as the fact "notes"
    bool stopped = false; ///< somebody asked to stop: the graphs that were complete by then are there, if any
};

/// What a log may come to.
struct ImportLimits {
    int64_t bytes = budget::log_bytes;
    int64_t endless_line_bytes = budget::log_endless_line_bytes; ///< without an end of line
    int64_t graph_tensors = budget::log_graph_tensors;           ///< of one graph, splits included
    int64_t records = budget::log_records;
};

/// Reads a ggml program's scheduler log ("-": standard input) twice and writes it as records: an evaluation for each graph, with what the log says and nothing
/// else. The memory of one graph is needed. `stop`: looked at with every line, from the first reading on; may be null. What was read of a graph when it was
/// set is dropped, and nothing was given to the recorder before the second reading.
/// Throws Error(input) when there is no such file, it can't be read, it is longer than a log may be, or no line of it is a scheduler's;
/// nothing was given to the recorder then. Throws the same for a graph that is too large, and for too many records, behind those that were given.
ImportResult import_log(const std::string& path, Recorder& recorder, const std::atomic<bool>* stop = nullptr,
                        const ImportLimits& limits = {});

} // namespace schedscope
