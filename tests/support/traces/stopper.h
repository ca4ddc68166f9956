#pragma once

#include "runtime/planner/recorder.h"
#include "traces/store/live_store.h"

#include <atomic>
#include <memory>

namespace schedscope::test {

/// Keeps what it is given, and wants the import to stop once it has so many graphs.
class Stopper final : public Recorder {
public:
    explicit Stopper(int n_graphs) : left_(n_graphs), stop(n_graphs == 0) {}
    void session(const SessionInfo& info) override {
        ++n_calls;
        store->session(info);
    }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { store->graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return store->intern(text); }
    void keep(const Record& record) override { store->keep(record); }
    void flush() override {
        store->flush();
        stop = --left_ == 0 || stop;
    }

private:
    int left_;

public:
    std::atomic<bool> stop;
    int n_calls = 0;
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
};

} // namespace schedscope::test
