#pragma once

#include "inspector/cli/line/command_options.h"
#include "traces/history/history.h"

#include <memory>
#include <optional>
#include <string>

namespace schedscope {

/// Throws Error(input) where a trace is not there and a sample of its name is installed: says where. Else whoever opens it does.
void require_trace(const std::string& path);

/// A trace opened for a reading command; what its reader has to say about it goes to stderr. Throws Error(input).
std::shared_ptr<const RecordSource> open_trace(const std::string& path);

/// What commands that read a trace ask for in the same words.
void add_trace_argument(CommandOptions& app, std::string& trace);
void add_eval_option(CommandOptions& app, std::optional<int>& eval);

/// The evaluation that was asked for; by default History::opening(). Throws Error(usage) when it is out of range,
/// Error(input) when the trace has none.
EvaluationId choose_evaluation(const History& history, std::optional<int> asked);

/// `--pass P`: one of the names that people type. Throws Error(usage) with all of them.
Pass parse_pass(const std::string& text);

} // namespace schedscope
