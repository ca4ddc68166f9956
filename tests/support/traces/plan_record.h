#pragma once

#include "tests/support/traces/notebook.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::test {

/// Keeps what was recorded in memory, and tells plans in the words of a debug log.
class PlanRecord final : public Notebook {
public:
    struct Source {
        std::string name; ///< of the copy where there is one
        int64_t bytes = 0;
        std::string backend; ///< empty for a copy
        std::string cause;
    };
    struct Node {
        std::string op, name, backend, cause;
        int64_t bytes = 0;
        std::vector<Source> sources;
    };
    struct SplitHeader {
        std::string backend;
        std::vector<std::string> inputs;
    };

    void graph(GraphId, const GraphView& graph, const CapabilityTable&) override {
        graph_ = OwnedGraph::copy_of(graph);
        assigned_.clear();
        rewired_.clear();
        splits_.clear();
    }
    void keep(const Record& record) override;

    /// Of the last plan. View operators have no backend of interest.
    int n_nodes() const { return static_cast<int>(graph_.nodes.size()); }
    Node node(int index) const;
    const std::vector<SplitHeader>& splits() const { return splits_; }
    int n_split_inputs() const;

    int plans = 0;

private:
    std::string backend_name(BackendId id) const { return id < 0 ? "" : info_.backends[static_cast<size_t>(id)].name; }
    int64_t bytes(TensorId id) const;

    OwnedGraph graph_;
    std::map<TensorId, record::Assign> assigned_;
    std::map<std::pair<TensorId, int32_t>, std::string> rewired_;
    std::map<TensorId, std::string> copies_;
    std::vector<SplitHeader> splits_;
};

} // namespace schedscope::test
