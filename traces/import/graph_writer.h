#pragma once

#include "runtime/planner/recorder.h"
#include "traces/import/logged_graph.h"
#include "traces/import/other_line.h"

#include <deque>

namespace schedscope::import {

/// What a log said about a graph beside it.
struct GraphContext {
    std::optional<ReserveLine> reserve;
    std::vector<std::pair<BufferTypeId, int64_t>> buffers; ///< compute buffers told behind it
};

/// Writes graphs as the runtime would have recorded them, as far as they are known. Records of a log have no time: it is 0.
class GraphWriter final : public Recorder {
public:
    /// `sink` keeps what is written; this stands in front of it, so that records are numbered and stamped here.
    explicit GraphWriter(Recorder& sink);

    void write(const LoggedGraph& graph, const GraphContext& context);
    int32_t n_written() const noexcept { return n_written_; }
    Step n_records() const noexcept { return next_; }

    // Recorder
    void session(const SessionInfo& info) override { sink_.session(info); }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { sink_.graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return sink_.intern(text); }
    void keep(const Record& record) override;
    void flush() override { sink_.flush(); }

private:
    GraphId graph_id(const OwnedGraph& graph);
    void write_assignments(const LoggedGraph& graph);
    void write_splits(const LoggedGraph& graph);

    Recorder& sink_;
    int32_t n_written_ = 0;
    GraphId n_graphs_ = 0;
    Step next_ = 0;
    /// Decoding prints the same graph again and again: it is kept once.
    std::deque<std::pair<GraphId, OwnedGraph>> recent_;
};

} // namespace schedscope::import
