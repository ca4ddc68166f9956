#pragma once

#include "runtime/planner/recorder.h"

namespace schedscope::import {

/// Numbers what is imported, in front of whoever keeps it. What that adds of its own (a writer's waits) is no fact of the
/// program's and left out.
class ImportSink final : public Recorder {
public:
    explicit ImportSink(Recorder& behind) : behind_(behind) { behind_.attach_to(*this); }

    void put(EvaluationId evaluation, std::optional<int64_t> time_ns, const Fact& fact) {
        behind_.keep({next_++, time_ns, evaluation, fact});
    }
    void put(EvaluationId evaluation, std::optional<int64_t> time_ns, const SplitPart& part) {
        const PartRecord record{next_, time_ns, evaluation, part};
        next_ += record.n_records();
        behind_.keep_part(record);
    }
    Step n_records() const noexcept { return next_; }

    void session(const SessionInfo& info) override { behind_.session(info); }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { behind_.graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return behind_.intern(text); }
    void keep(const Record&) override {}
    void flush() override { behind_.flush(); }

private:
    Recorder& behind_;
    Step next_ = 0;
};

} // namespace schedscope::import
