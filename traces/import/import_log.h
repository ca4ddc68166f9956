#pragma once

#include "runtime/system/budget.h"
#include "traces/import/opened_input.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

class ModelGraphs;
class Recorder;

/// What an import came to.
struct ImportResult {
    int32_t n_graphs = 0;                              ///< one evaluation each
    int64_t n_splits = 0, n_nodes = 0, n_left_out = 0; ///< n_left_out: nodes that a log has no line of
    std::vector<std::string>
        notes;               ///< what the log lacks or what was not understood, each a sentence; in the trace as the fact "notes"
    bool stopped = false;    ///< the user asked to stop: the graphs that were complete by then are there, if any
    int32_t n_filled_in = 0; ///< graphs that a model's were found for
    int64_t n_tensors = 0, n_named = 0; ///< of those: tensors that the log has, and those of the same name in the model's graph
};

/// "3 of 4 graphs from the model: …", for people.
std::string filled_in_words(const ImportResult& result);

/// What a log may come to.
struct ImportLimits {
    int64_t bytes = budget::log_bytes;
    int64_t endless_line_bytes = budget::log_endless_line_bytes; ///< without an end of line
    int64_t graph_tensors = budget::log_graph_tensors;           ///< of one graph, splits included
    int64_t records = budget::log_records;
};

/// Reads what another program left, a scheduler's log or a stream (SCHEMA.md), which its first bytes tell; "-": standard input.
/// As the two below.
/// `model`: of a log, fills in what it leaves out (model_graphs.h). Throws Error(usage) for a stream, which leaves nothing out.
ImportResult import_file(const std::string& path, Recorder& recorder, const std::atomic<bool>* stop = nullptr,
                         const ImportLimits& limits = {}, ModelGraphs* model = nullptr);

/// Reads a ggml program's scheduler log twice and writes it as records: an evaluation for each graph, with what the log says
/// and nothing else. The memory of one graph is needed. Whether somebody asks to stop is looked at with every line, from the
/// first reading on. What was read of a graph by then is dropped, and nothing was given to the recorder before the second
/// reading. Throws Error(input) when it can't be read, it is longer than a log may be, or no line of it is a scheduler's;
/// nothing was given to the recorder then, nor where it is certainly no log of `model` (other_model.h). Throws the same for a
/// graph that is too large, and for too many records, behind those that were given.
ImportResult import_log(import::OpenedInput input, Recorder& recorder, const ImportLimits& limits = {},
                        ModelGraphs* model = nullptr);

/// Writes a stream as records, a block as soon as it is there. Throws Error(input) for what is no stream of a version that is
/// known here, naming the place; what came before is recorded then. Where the stream has no end, the notes say so.
ImportResult import_stream(import::OpenedInput input, Recorder& recorder, const ImportLimits& limits = {});

} // namespace schedscope
