#pragma once

#include "runtime/planner/capability_table.h"
#include "traces/store/reading/trace_connections.h"
#include "traces/store/reading/trace_index.h"
#include "traces/store/reading/trace_rows.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope {

/// Graphs and capability answers of a trace, read when first asked for and kept. Every id in a graph that it gives out is one of
/// its tensors, and every size can be computed with. Throws Damage or sqlite::Failure; Error(usage) for ids that are not there.
class TraceGraphs {
public:
    TraceGraphs(TraceConnections& connections, const TraceIndex& index, KeptBytes& kept);

    const OwnedGraph& graph(GraphId id);
    const CapabilityTable& answers(GraphId id);

private:
    void read_answer_texts();
    std::unique_ptr<OwnedGraph> read_graph(GraphId id);
    std::unique_ptr<CapabilityTable> read_answers(GraphId id);
    void check_id(GraphId id) const;
    /// What is kept of a graph, read when it is not there yet. Damage says `what` it is about.
    template <typename T, typename Read>
    const T& once(std::vector<std::unique_ptr<T>>& kept, GraphId id, const char* what, const Read& read);

    TraceConnections& connections_;
    sqlite::Database& database_; ///< of the first connection
    const TraceIndex& index_;
    KeptBytes& kept_;
    std::vector<std::unique_ptr<OwnedGraph>> graphs_;
    std::vector<std::unique_ptr<CapabilityTable>> tables_;
    std::optional<std::vector<Answer>> answers_; ///< by the file's answer ids
    std::deque<std::string> details_;
};

} // namespace schedscope
