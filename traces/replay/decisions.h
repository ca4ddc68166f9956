#pragma once

#include "traces/replay/replay.h"
#include "traces/store/record_source.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace schedscope {

/// Is it a decision of the planner (an assignment, a split, a place), and not a question, a mark of progress or something that
/// ran?
bool is_decision(const Fact& fact) noexcept;

/// The decisions of one plan, with what their numbers stand for.
struct PlanText {
    const SessionInfo& session;
    const OwnedGraph& graph;
    const std::vector<Record>& decisions;
    std::function<std::string_view(StringId)> text;

    std::string tensor(TensorId id) const;
    std::string backend(BackendId id) const;
    std::string buffer_type(BufferTypeId id) const;
};

/// Compares two plans decision by decision. Backends and buffer types are the same when their names are, tensors when they match
/// (align.h), copies when they are of the same tensor, on the same backend, for the same stage. Two texts of a difference are
/// never the same. How many differ, by what.
std::map<std::string, int64_t> compare_decisions(EvaluationId evaluation, const PlanText& recorded, const PlanText& now,
                                                 size_t max_differences, ReplayResult& result);

} // namespace schedscope
