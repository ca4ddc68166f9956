#pragma once

#include "runtime/planner/recorder.h"

#include <memory>
#include <optional>
#include <string>

namespace schedscope {

/// Writes the trace file. Records are queued and written by a thread of its own: committed at each evaluation end (or within 10
/// ms of it when they come faster) and at least every 250 ms. When the queue is full the runtime waits, and the wait is a record.
///
/// Errors of the file (disk full, removed, read-only) stop the recording and not the run; `close` reports them.
class TraceWriter final : public Recorder {
public:
    struct Options {
        bool texts = true;              ///< false: prompts, generated texts and token ids are left out (--no-text)
        bool whole = false;             ///< commits nothing that no flush stands behind, but at the end
        size_t queue_records = 1 << 16; ///< records that may wait to be written; about 90 bytes each
    };

    /// Touches nothing yet: the file is made, replacing what is there (see check_output), when the session begins, so that a run
    /// that fails before leaves an older trace as it was.
    explicit TraceWriter(const std::string& path, const Options& options);
    explicit TraceWriter(const std::string& path) : TraceWriter(path, Options{}) {}
    ~TraceWriter() override; ///< closes; errors are lost

    void session(const SessionInfo& info) override; ///< makes the file; throws Error(device)
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override;
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;
    void flush() override;
    void attach_to(Recorder& root) override;

    /// Returns when everything so far is committed, or recording has failed.
    void sync();
    /// Writes the rest and leaves one file. Throws Error(device) with the first error there was. A second call does nothing.
    void close();
    int64_t n_evaluations() const; ///< that came so far
    /// The sentence of the first error, if there was one.
    std::optional<std::string> error() const;

private:
    void open();
    template <typename Put> void queue(size_t cost, const Put& put);

    struct State;
    std::unique_ptr<State> state_;
};

} // namespace schedscope
