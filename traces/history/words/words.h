#pragma once

#include "runtime/planner/records.h"
#include "runtime/system/number_words.h"
#include "traces/history/size_sum.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What records say in numbers, as people read it.
namespace schedscope::words {

std::string pass(Pass pass);             ///< "pass 2a (gpu down)", "optimise"
std::string pass_and_title(Pass pass);   ///< shorter: "2a gpu down", "optimise"
std::string evaluations(EvaluationId n); ///< they count from 0: "0…7" are eight
/// "3 (0…7)" is one of eight.
std::string evaluation_of(EvaluationId id, EvaluationId n);

/// What a graph is: "decode, 1 token"; where that is not known what is: "prefill, 130 nodes", "graph of 3 splits".
std::string graph(const record::EvaluationBegin& begin, int64_t n_nodes, int64_t n_splits);

/// The graph that memory was reserved for: "prefill of 512 tokens", "decode of 1 token".
std::string reserved_for(int32_t n_tokens);

/// "nodes 3 to 5", "node 3"; last: included.
std::string nodes_from_to(int64_t first, int64_t last);

/// Sizes that may be unknown: "4.0 KiB"; "at least 4.0 KiB" where only some are known; "?" where none is; "about 0.89 MiB" where
/// they were rounded.
std::string bytes(const SizeSum& sum);
/// Behind a number of nodes, " (60 of them not in the log)"; empty for 0.
std::string not_in_log(int64_t n_left_out);
/// The same behind what is counted: "3 copies of 4.0 KiB", "… of at least 4.0 KiB", "… of unknown size"; "no copies".
std::string counted_of(int64_t n, std::string_view noun, const SizeSum& sum);
std::string
value(const record::Value& v); ///< "from 0 to 1, mean 0.25, norm 2 of 16 elements"; with its NaN and infinite ones, if any
/// The file of a session's model; of a log, the name that the model has for itself. Empty: neither is known.
std::string model_of(const SessionInfo& session);
/// A fact of a session: as it is, but "b8180 and later" for the builds "b8180..".
std::string fact(const std::pair<std::string, std::string>& named);
/// "type: source 1 is not F32", or as much of it as is known; empty: nothing.
std::string refusal(Refusal reason, std::string_view detail, std::string_view between = ": ");
/// Options that a run would have, or lack: "with -ngl 5"; of "no -nkvo" "without -nkvo".
std::string with_options(std::string_view options);
bool lacks_option(std::string_view options) noexcept;
/// "input", "param": of TensorFlags.
std::vector<std::string_view> flag_names(uint8_t flags);
/// What a backend was asked, and what it said: "runs this operator? no: type: source 1 is not F32". memory: with
/// Question::buffer_type.
std::string asked(Question question, std::string_view memory, bool yes, std::string_view why);
/// Why a split begins: "backend changes at Qcur-3 (MUL_MAT)". node: that begins it; empty: not said. by: what it needs.
std::string split_begins(const record::SplitBegin& begin, std::string_view node, std::string_view by);

} // namespace schedscope::words
