#pragma once

#include "runtime/planner/records.h"
#include "traces/history/size_sum.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a trace that was made from a log keeps of how it was printed there.
namespace schedscope::accounts {

/// Facts of such a trace: which log it is · "2: splits and nodes" or "1: splits only" · sizes of buffers as logged, "Vulkan0
/// 0.8877 MiB, Vulkan_Host 0.26 MiB": of weights, of the cache, and of compute buffers each that a record of the trace has.
inline constexpr std::string_view log_fact = "imported", log_level_fact = "level", model_buffers_fact = "model_buffers",
                                  kv_buffers_fact = "kv_buffers", compute_buffers_fact = "compute_buffers";
/// How the fact of a log that was a file begins; its path follows.
inline constexpr std::string_view log_file_words = "the scheduler log ";

bool is_of_log(const SessionInfo& session);

/// What lies in memory beside the plans, as far as a log says it, in words: {"model", "CPU_Mapped 0.41 MiB, Vulkan0 0.15 MiB"},
/// {"KV cache", …}.
std::vector<std::pair<std::string, std::string>> logged_memory(const SessionInfo& session);

/// Lines of splits and nodes print a tensor's size rounded down, to KiB or from 1 MiB on to MiB: what they print of this one.
int64_t logged_size(int64_t bytes) noexcept;
/// May a line print this size so? True: the line's is not known.
bool is_logged_as(int64_t bytes, std::optional<int64_t> logged) noexcept;
/// The largest size that is printed so.
int64_t most_logged_as(int64_t logged) noexcept;
/// Is the size that a trace has of a tensor the one that a line printed? So it is in that of a log where no shape is known.
bool is_size_of_line(const SessionInfo& session, const TensorInfo& tensor);
/// Of a tensor whose size is recorded so: more where a line rounded it. Null: not known which tensor.
SizeSum recorded_size(const SessionInfo& session, const TensorInfo* tensor, std::optional<int64_t> bytes);

/// A size with as many digits as a log prints.
struct LoggedSize {
    int64_t bytes = 0, rounding = 0; ///< the real one is not farther from `bytes` than `rounding`
    std::string_view text;           ///< "0.89 MiB"
};
/// Of the first number in a text and the unit behind it; nothing: that is no size.
std::optional<LoggedSize> read_logged_size(std::string_view text);

/// By how much the real size of a compute buffer may differ from the recorded one; 0 where no log rounded it.
int64_t rounding_of(const SessionInfo& session, std::string_view buffer_type, int64_t bytes);

} // namespace schedscope::accounts
