#pragma once

#include "runtime/planner/recorder.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The times of a row of `split_run` as text: "[[0,1520],[1530,90]]", for each kernel how long after the row's start it began and
/// how long it took, in nanoseconds. It is JSON, so that any SQLite shell can read it, and a kernel takes about twelve bytes.
namespace schedscope {

constexpr int64_t least_bytes_of_times = 6; ///< "[0,0],"

/// start_ns: of the row. Replaces `text`.
void write_times(std::span<const KernelSpan> times, int64_t start_ns, std::string& text);
/// Replaces `times`. False: it is no such text, or a number in it is beyond 2^61.
bool read_times(std::string_view text, int64_t start_ns, std::vector<KernelSpan>& times);

} // namespace schedscope
