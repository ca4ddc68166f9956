#pragma once

#include "runtime/planner/recorder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::test {

/// Keeps what was recorded in memory, and tells plans in the words of a debug log.
class PlanRecord final : public Recorder {
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

    void session(const SessionInfo& info) override { info_ = info; }
    void graph(GraphId, const GraphView& graph, const CapabilityTable&) override {
        graph_ = OwnedGraph::copy_of(graph);
        assigned_.clear();
        rewired_.clear();
        splits_.clear();
    }
    StringId intern(std::string_view text) override {
        if (text.empty()) {
            return 0;
        }
        const auto [at, added] = ids_.try_emplace(std::string(text), static_cast<StringId>(texts_.size()));
        if (added) {
            texts_.emplace_back(text);
        }
        return at->second;
    }
    void keep(const Record& record) override;

    /// Of the last plan. View operators have no backend of interest.
    int n_nodes() const { return static_cast<int>(graph_.nodes.size()); }
    Node node(int index) const;
    const std::vector<SplitHeader>& splits() const { return splits_; }
    int n_split_inputs() const;
    const SessionInfo& info() const { return info_; }
    const std::string& text(StringId id) const { return texts_[static_cast<size_t>(id)]; }

    std::vector<Record> records;
    int plans = 0;

    template <typename T> std::vector<T> all() const {
        std::vector<T> found;
        for (const Record& r : records) {
            if (const T* fact = std::get_if<T>(&r.fact)) {
                found.push_back(*fact);
            }
        }
        return found;
    }

private:
    std::string backend_name(BackendId id) const { return id < 0 ? "" : info_.backends[static_cast<size_t>(id)].name; }
    int64_t bytes(TensorId id) const;

    SessionInfo info_;
    OwnedGraph graph_;
    std::map<TensorId, record::Assign> assigned_;
    std::map<std::pair<TensorId, int32_t>, std::string> rewired_;
    std::map<TensorId, std::string> copies_;
    std::vector<SplitHeader> splits_;
    std::vector<std::string> texts_{""};
    std::map<std::string, StringId> ids_;
};

} // namespace schedscope::test
