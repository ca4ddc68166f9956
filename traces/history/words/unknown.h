#pragma once

#include "runtime/planner/records.h"
#include "traces/history/history.h"

#include <optional>
#include <string>
#include <string_view>

/// What a trace does not know is shown as such, in the same way everywhere.
namespace schedscope {

constexpr const char* unknown_text = "?";
constexpr const char* not_there_text = "not there"; ///< of two sides, the one that does not have it
constexpr const char* not_timed_text = "not timed"; ///< what ran without a time of its own (--kernel-times)

/// The fact of a trace that was planned only, and says of what: nothing in it ran, or ever will.
constexpr const char* dry_run_fact = "dry_run";
/// Where nothing of an evaluation ran: what there is to say of it. so_far: in any other trace.
std::string nothing_ran(const SessionInfo& session, std::string_view so_far);

/// "where tensors lie is unknown: this trace has no records of memory".
std::string unknown_for_lack_of(Topic topic, std::string_view what);

/// A node of which the trace knows only that there is one, so that the others keep their numbers.
bool is_left_out(const TensorInfo& tensor) noexcept;
/// Why nothing can be planned again, and what to do: "nothing can be planned again: this trace has no answers of backends, …".
std::string not_plannable_for_lack_of(Topic topic);
/// Throws Error(input) for a graph that can't be planned again: something that the planner needs of it is not known.
void require_plannable(const SessionInfo& session, const OwnedGraph& graph, const CapabilityTable& answers);

std::string_view operator_name(const TensorInfo& tensor) noexcept;     ///< "SWIGLU", "NONE"; of the program's constants
std::string operator_text(const TensorInfo& tensor);                   ///< the same
std::string type_text(const TensorInfo& tensor);                       ///< "f32"
std::string shape_text(const TensorInfo& tensor);                      ///< "[64, 16]"
std::string_view kind_text(std::optional<GraphKind> kind) noexcept;    ///< "decode"
std::string_view reason_text(std::optional<SplitReason> why) noexcept; ///< "weight"
std::string cause_text(std::optional<Cause> cause, int source);        ///< "1.wgt0"; empty: none

} // namespace schedscope
