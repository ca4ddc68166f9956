#pragma once

#include "traces/history/accounts/copies.h"

#include <optional>
#include <string>
#include <vector>

namespace schedscope::accounts {

/// How far a plan got that the recording does not see the end of.
struct UnfinishedPlan {
    Pass pass = Pass::none; ///< the last that began; none: not even the first did
    bool over = false;      ///< it ended

    std::string told() const; ///< "the plan ends after pass 1 (place): the recording stopped there"
};
/// Of the plan that this evaluation made last; nothing: it is whole, failed, or its evaluation went on without saying so.
std::optional<UnfinishedPlan> unfinished_plan(History& history, EvaluationId planned);

/// What a trace holds, in numbers.
struct Summary {
    Step steps = 0;
    int evaluations = 0, failed = 0, graphs = 0;
    int plans = 0;                   ///< that began
    int reserves = 0;                ///< of another program's evaluations: those that plan memory and compute nothing
    bool last_is_unfinished = false; ///< of the plans
    std::optional<int64_t> tokens;
    std::optional<int64_t> first_ns, last_ns; ///< times of the first and last record
    std::optional<int64_t> time_ns() const { return first_ns && last_ns ? std::optional(*last_ns - *first_ns) : std::nullopt; }
    EvaluationId last_planned = -1; ///< −1: none was
    // The plan that one evaluation runs; −1 and zeros: none was made. Nothing: not known.
    EvaluationId evaluation = -1;
    std::optional<UnfinishedPlan> unfinished; ///< what counts splits and copies counts those before it stopped
    std::optional<int32_t> nodes = 0, leafs = 0;
    int32_t nodes_left_out = 0; ///< of `nodes`, those that a log has no line of
    int32_t splits = 0, copies = 0;
    bool all_copies_known = true;       ///< else there are at least so many
    int32_t stages = 1;                 ///< of its pipeline: each copy of a split's input is there once per stage
    int32_t input_copies = 0;           ///< of `copies`, those that keep an input of the graph for a further stage
    SizeSum copied;                     ///< what all `copies` hold
    int32_t inputs = 0;                 ///< of its splits: what one evaluation copies, whatever the stages
    SizeSum to_copy;                    ///< all that these inputs hold
    std::optional<int64_t> moved_bytes; ///< what its transfers moved; nothing: none is there
    SizeSum compute;                    ///< buffers as they are then
    struct OpCount {
        std::string op; ///< "?": a log names none, or none that is known
        BackendId backend = no_backend;
        int32_t nodes = 0;
    };
    std::vector<OpCount> operators; ///< of the nodes that are not left out, most frequent first
};

/// `evaluation`: the one whose plan it counts; −1: History::opening().
Summary summary(History& history, EvaluationId evaluation = -1);

} // namespace schedscope::accounts
