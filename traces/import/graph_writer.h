#pragma once

#include "traces/import/import_sink.h"
#include "traces/import/logged_graph.h"
#include "traces/import/other_line.h"

#include <deque>

namespace schedscope::import {

/// What a log said about a graph beside it.
struct GraphContext {
    std::optional<ReserveLine> reserve;
    std::vector<std::pair<BufferTypeId, int64_t>> buffers; ///< compute buffers told behind it
};

/// Writes graphs as the runtime would have recorded them, as far as they are known. Records of a log have no time.
class GraphWriter {
public:
    explicit GraphWriter(Recorder& behind) : sink_(behind) {}

    void session(const SessionInfo& info) { sink_.session(info); }
    void write(const LoggedGraph& graph, const GraphContext& context);
    int32_t n_written() const noexcept { return n_written_; }
    Step n_records() const noexcept { return sink_.n_records(); }

private:
    void add(const Fact& fact) { sink_.put(n_written_, std::nullopt, fact); }
    GraphId graph_id(const OwnedGraph& graph);
    void write_assignments(const LoggedGraph& graph);
    void write_splits(const LoggedGraph& graph);

    ImportSink sink_;
    int32_t n_written_ = 0;
    GraphId n_graphs_ = 0;
    /// Decoding prints the same graph again and again: it is kept once.
    std::deque<std::pair<GraphId, OwnedGraph>> recent_;
};

} // namespace schedscope::import
