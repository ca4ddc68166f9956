#pragma once

#include "runtime/planner/capabilities.h"
#include "tests/corpus/corpus_case.h"

#include <vector>

namespace schedscope::corpus {

/// Answers for one graph of a case from its lists.
class MockCapabilities final : public Capabilities {
public:
    MockCapabilities(const Case& c, const GraphView& graph) : case_(c), graph_(graph) {}

    int n_backends() const noexcept override { return static_cast<int>(case_.backends.size()); }
    BufferTypeId default_buffer_type(BackendId backend) const override { return mock(backend).buffer_type; }
    bool is_host(BufferTypeId type) const override { return case_.session.buffer_types[static_cast<size_t>(type)].is_host; }
    Answer supports_op(BackendId backend, TensorId tensor) const override;
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override;
    bool wants_offload(BackendId backend, TensorId tensor) const override;

private:
    const MockBackend& mock(BackendId backend) const { return case_.backends[static_cast<size_t>(backend)]; }
    const TensorInfo& tensor(TensorId id) const { return graph_.tensors[static_cast<size_t>(id)]; }

    const Case& case_;
    const GraphView& graph_;
};

/// What our planner decides in each round of a case, through one scheduler's worth of history. As many as the case has, or, where
/// an error is expected, up to its round.
struct RunRound {
    int current_stage = 0;
    Outcome outcome;
};
std::vector<RunRound> run_case(const Case& c);

} // namespace schedscope::corpus
