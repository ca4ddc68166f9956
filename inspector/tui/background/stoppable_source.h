#pragma once

#include "runtime/error.h"
#include "traces/store/record_source.h"

#include <memory>
#include <stop_token>
#include <utility>

namespace schedscope::tui {

/// Another source, which work on a thread of its own reads: all that takes long asks for records and graphs again and again, and
/// ends there by Interrupted when it is to.
class StoppableSource final : public RecordSource {
public:
    StoppableSource(std::shared_ptr<const RecordSource> source, std::stop_token stop)
        : source_(std::move(source)), stop_(std::move(stop)) {}

    SessionInfo session() const override { return asked().session(); }
    Step n_steps() const override { return asked().n_steps(); }
    int n_evaluations() const override { return asked().n_evaluations(); }
    EvaluationSpan evaluation(EvaluationId id) const override { return asked().evaluation(id); }
    void read(Step first, Step end, std::vector<Record>& out) const override { asked().read(first, end, out); }
    void read_wanted(Step first, Step end, Wanted wanted, std::vector<Record>& out) const override {
        asked().read_wanted(first, end, wanted, out);
    }
    int n_graphs() const override { return asked().n_graphs(); }
    const OwnedGraph& graph(GraphId id) const override { return asked().graph(id); }
    const CapabilityTable& answers(GraphId id) const override { return asked().answers(id); }
    std::string_view text(StringId id) const override { return asked().text(id); }
    const KernelList& kernels(KernelListId id) const override { return asked().kernels(id); }
    Step next_of(Step from, FactSet kinds) const override { return asked().next_of(from, kinds); }
    Step previous_of(Step from, FactSet kinds) const override { return asked().previous_of(from, kinds); }
    int64_t count(FactSet kinds) const override { return asked().count(kinds); }
    int64_t count_failed() const override { return asked().count_failed(); }

private:
    const RecordSource& asked() const {
        if (stop_.stop_requested()) {
            throw Interrupted();
        }
        return *source_;
    }

    std::shared_ptr<const RecordSource> source_;
    std::stop_token stop_;
};

} // namespace schedscope::tui
