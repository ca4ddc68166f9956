#pragma once

#include "runtime/planner/recorder.h"

#include <functional>
#include <memory>
#include <optional>

namespace schedscope {

/// What of a long recording is wanted.
struct RecordingBounds {
    std::optional<int64_t> last_evaluations = {}; ///< no more than so many, the last ones
    std::optional<int64_t> last_bytes = {};       ///< as many of the last ones as a file of that size has room for
    std::optional<int64_t> for_ns = {};           ///< those that begin so long after the first one
    /// Those that it wants. It gets a function that writes the evaluation as a trace of its own, the last one in it, behind the
    /// one whose plan it runs. `number`: of the evaluation, where all are recorded.
    std::function<bool(EvaluationId number, const std::function<void(Recorder&)>& write)> when = {};
    bool tokens_follow = false; ///< behind an evaluation's end: it is complete when the next one begins

    bool any() const noexcept { return last_evaluations || last_bytes || for_ns || when; }
    bool last() const noexcept { return last_evaluations || last_bytes; }
};

/// Gives a part of a recording on, evaluation by evaluation, as a trace that is whole in itself. Numbers begin at 0 in it.
///
/// What is given on brings along the evaluation whose plan it runs, before it. What memory depends on is always there: those that
/// planned it or reserved it, and of each the plan before; so what is left can be planned again, and sizes of buffers are known.
/// Where only the last are wanted nothing is given on before `finish`, and what waits is in memory.
class BoundedRecorder final : public Recorder {
public:
    BoundedRecorder(Recorder& behind, RecordingBounds bounds);
    ~BoundedRecorder() override;

    void session(const SessionInfo& info) override;
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override;
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;
    void flush() override;

    /// The recording is over: what is still wanted is given on.
    void finish();
    // Once it is over, in evaluations
    int64_t n_left_out() const noexcept;
    int64_t n_wanted() const noexcept; ///< that were given on because they are wanted; the others were brought along

private:
    struct State;
    Recorder& behind_;
    std::unique_ptr<State> state_;
};

} // namespace schedscope
