#pragma once

#include "traces/history/history.h"
#include "traces/history/size_sum.h"

#include <optional>
#include <string>
#include <vector>

/// What a plan copies between backends.
namespace schedscope::accounts {

struct CopyRow {
    TensorId id = no_tensor, of = no_tensor;
    std::string tensor; ///< the original
    BackendId from = no_backend, to = no_backend;
    std::optional<int32_t> stage;
    std::optional<int32_t> split; ///< whose input it is; nothing: a graph input kept per stage
    SizeSum size;                 ///< all that the original holds
    std::optional<int64_t>
        moved_bytes; ///< in this evaluation, less than `size` where only some experts were; nothing: not moved in it
    std::optional<int64_t> time_ns; ///< of its transfers in this evaluation, added up; nothing: none, or one was not timed
    int64_t start_ns = -1;          ///< when the first of them began; −1: none
    std::optional<int32_t> experts, experts_total;
};

/// How long it took, or to queue it; nothing: the backend made it by itself, and only when it was handed over is known.
std::optional<int64_t> moving_time(const record::Transfer& transfer) noexcept;
/// Of two times; nothing: not both are known.
std::optional<int64_t> sum_of(std::optional<int64_t> a_ns, std::optional<int64_t> b_ns) noexcept;

std::vector<CopyRow> copies(History& history, const PlanState& state);

/// Where what a copy holds comes from; an input of the graph that is kept once per stage is made where it lies.
BackendId origin_of(const PlanState& state, const record::CopyMade& copy) noexcept;
/// Of the pipeline that the copies are made for; 1: there is none.
int32_t n_stages(const PlanState& state) noexcept;

/// What an evaluation moved of what its plan copies: less where only some experts were. Nothing: no transfer is recorded, as who
/// writes a trace may leave them out.
std::optional<int64_t> moved_bytes(const PlanState& state) noexcept;

/// The sizes that a plan's records give of what is copied. Those that a log rounded down are told as such.
class RecordedSizes {
public:
    RecordedSizes(const SessionInfo& session, const OwnedGraph* graph); ///< null: nothing planned. Both must outlive it
    RecordedSizes(const History& history, const PlanState& state);

    SizeSum of(TensorId id, std::optional<int64_t> recorded) const;
    /// What is copied into a split, into all splits of a plan.
    SizeSum of_inputs(const SplitState& split) const;
    SizeSum of_inputs(const PlanState& state) const;
    /// What all copies of a plan hold: of a pipeline, those of all its stages and those of the graph's inputs.
    SizeSum of_copies(const PlanState& state) const;

private:
    const SessionInfo& session_;
    const OwnedGraph* graph_;
};
/// Are the inputs of all its splits known, and so its copies?
bool knows_all_inputs(const PlanState& state) noexcept;

} // namespace schedscope::accounts
