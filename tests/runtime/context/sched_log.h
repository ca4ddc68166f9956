#pragma once

#include <optional>
#include <string>
#include <vector>

/// A debug log of the reference's scheduler, level 2 (shared/logs/FORMATS.md). Names are cut to 20 characters there, operators to
/// 10, backends to 5.
namespace schedscope::test {

struct LogSource {
    std::string name, size, backend, cause;
};
struct LogNode {
    int index = 0;
    std::string op, name, size, backend, cause;
    std::vector<LogSource> sources;
};
struct LogSplit {
    std::string backend;
    int n_inputs = 0;
    std::vector<std::string> inputs; ///< whole names
};
struct LogGraph {
    std::vector<LogSplit> splits;
    std::vector<LogNode> nodes;
};

/// All graphs of a log, in order. Nothing when there is no such file.
std::optional<std::vector<LogGraph>> read_sched_log(const std::string& path);

/// As the log prints sizes: whole K or M, rounded down.
std::string log_size(long long bytes);

} // namespace schedscope::test
