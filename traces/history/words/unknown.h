#pragma once

#include "runtime/planner/records.h"
#include "traces/history/history.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A trace that was made from a log knows less than a recorded one. What is unknown is shown as such, in the same way everywhere.
namespace schedscope {

constexpr const char* unknown_text = "?";
/// For replay, what-if and whoever else would need the answers.
constexpr const char* cannot_plan_again =
    "nothing can be planned again: this trace was imported from a log, which tells no answers of backends, shapes or types";

/// It is known from a log alone: type, shape, strides and parameters are not known, and operator NONE says that it isn't either. Its extents are all 0.
bool told_by_log(const TensorInfo& tensor) noexcept;
/// A node that the log leaves out, there only so that the others keep their numbers: a view operator, or lost.
bool left_out_by_log(const TensorInfo& tensor) noexcept;
/// Throws Error(input) for a graph that is known from a log alone: it can't be planned again.
void refuse_logged(const OwnedGraph& graph, const CapabilityTable& answers);
/// The state's plan was made from a log.
bool is_imported(const History& history, const PlanState& state);
/// The whole trace was.
bool is_imported(const History& history);

/// What an evaluation works on. A log tells it of graphs alone that memory is reserved for.
struct KnownCounts {
    std::optional<int32_t> tokens, sequences, outputs;
};
KnownCounts known_counts(const record::EvaluationBegin& begin) noexcept;

std::string_view operator_name(const TensorInfo& tensor) noexcept; ///< "SWIGLU", "NONE"; of the program's constants
std::string operator_text(const TensorInfo& tensor);               ///< the same
std::string type_text(const TensorInfo& tensor);                   ///< "f32"
std::string shape_text(const TensorInfo& tensor);                  ///< "[64, 16]"

/// Why a split is one of its own. A log shows that the backend goes on, but not always whether a weight made it so or the room for inputs.
bool reason_known(const record::SplitBegin& split) noexcept;
std::string reason_text(const record::SplitBegin& split); ///< "weight"

} // namespace schedscope
