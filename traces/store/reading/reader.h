#pragma once

#include "traces/store/record_source.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace schedscope {

/// Reads a trace file; trusts nothing in it. Opening checks kind, version and schema and reads only what is small; records are
/// read when asked for, each number checked before it reaches the caller. Needs no write permission: where a journal lies beside
/// the file (the program that wrote it was killed, or is still writing), it is worked in in memory (trace_files.h). Throws
/// Error(input), one line "PATH: why".
class TraceReader final : public RecordSource {
public:
    struct Options {
        /// Asked now and then while it reads, by any thread; true: what is being read throws Interrupted. Empty: never.
        std::function<bool()> stop;
        bool alone = false; ///< who reads in the background leaves the other processors to those who are waited for
    };
    explicit TraceReader(const std::string& path, Options options);
    explicit TraceReader(const std::string& path) : TraceReader(path, Options{}) {}
    ~TraceReader() override;

    SessionInfo session() const override;
    Step n_steps() const override;
    int n_evaluations() const override;
    EvaluationSpan evaluation(EvaluationId id) const override;
    void read(Step first, Step end, std::vector<Record>& out) const override;
    void read_wanted(Step first, Step end, Wanted wanted, std::vector<Record>& out) const override;
    int n_graphs() const override;
    const OwnedGraph& graph(GraphId id) const override;
    const CapabilityTable& answers(GraphId id) const override;
    std::string_view text(StringId id) const override;
    const KernelList& kernels(KernelListId id) const override;
    Step next_of(Step from, FactSet kinds) const override;
    Step previous_of(Step from, FactSet kinds) const override;
    int64_t count(FactSet kinds) const override;
    int64_t count_failed() const override;

    /// Pages of the file that were read since it was opened: what was asked for, not how long the trace is, says how many.
    int64_t pages_read() const;

    /// What became of the file since it was opened, which is read on as it was: "was replaced …". Empty: nothing.
    std::string changed() const;

    /// For the user to know, to be said after the file's name: "was not closed; what had been committed is shown".
    const std::vector<std::string>& notes() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace schedscope
