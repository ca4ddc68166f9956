#pragma once

#include "runtime/planner/recorder.h"

#include <optional>

namespace schedscope {

/// Gives all on to another recorder, but the session only when the first graph or record comes, or is about to. A writer behind
/// it makes its file then: what is refused before that leaves no trace, and an older one as it was.
class DeferredSession final : public Recorder {
public:
    explicit DeferredSession(Recorder& behind) : behind_(behind) { behind_.attach_to(*this); }

    void session(const SessionInfo& info) override;
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override { return behind_.intern(text); }
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;
    Grain grain() const override { return behind_.grain(); }
    /// An evaluation is about to begin, or has ended.
    void flush() override {
        begin();
        behind_.flush();
    }
    void attach_to(Recorder& root) override { behind_.attach_to(root); }

    /// The run is over and was not refused: a session that nothing followed is given on, too.
    void finish() { begin(); }

private:
    void begin();

    Recorder& behind_;
    std::optional<SessionInfo> waiting_;
    bool begun_ = false;
};

} // namespace schedscope
