#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// What a ggml program's scheduler writes with GGML_SCHED_DEBUG, line by line, in every form since October 2023:
///
///     ## SPLIT #1: Vulkan0 # 2 inputs: [embd (  10K)] [leaf_5 (   0K)]
///     node #  5 (      ROPE):               Qcur-0 (  10K) [Vulka    2.sup] use=1,c=1:               Qcur-0 (  10K)
///     [Vulka   4.vsrc] …
///
/// Names are cut to 20 bytes on node lines, backends to 5 (4 at first), operators to 10, sizes to 5 (4); split headers have names
/// in full. Everything here points into the line that was read.
namespace schedscope::import {

/// The names are those of the log, cut as it cut them; empty: not there (a cause of a program built without them).
struct LoggedTensor {
    std::string_view name;
    std::optional<int64_t> bytes; ///< rounded down to KiB or MiB as the log has it; nothing: its unit was cut off
    std::string_view backend;     ///< "NULL": the scheduler knew none
    std::string_view cause;
    uint8_t backend_width = 0; ///< a backend's name is cut to so many bytes; 0: not known, the blanks around it are gone
};

struct LoggedNode {
    int64_t index = 0; ///< among the graph's nodes; view operators are left out, so indices skip
    std::string_view op;
    LoggedTensor tensor;
    int32_t uses = -1; ///< nodes that read it; −1: the log does not say
    std::vector<LoggedTensor> sources;
    bool whole = false;   ///< nothing that belongs to it is missing at its end
    bool has_name = true; ///< false: it ends before its tensor was named
};

struct LoggedInput {
    std::string_view name;
    std::optional<int64_t> bytes;
};
struct LoggedSplit {
    int64_t index = 0;
    std::string_view backend;
    int64_t n_inputs = 0; ///< as announced
    std::vector<LoggedInput> inputs;
    bool whole = false; ///< as many inputs as announced
};

enum class LineKind : uint8_t { other, split, node };

/// Where a scheduler line begins in a line of the log (prefixes stand in front of it).
struct LineStart {
    LineKind kind = LineKind::other;
    size_t at = 0;
};
LineStart find_start(std::string_view line) noexcept;
/// Is that all that is there of a scheduler line, too little for find_start?
bool may_start(std::string_view line) noexcept;

/// `text` begins where find_start says. False: too little of it is there to say what it is about. The result's vectors are used
/// again.
bool parse_split(std::string_view text, LoggedSplit& split);
bool parse_node(std::string_view text, LoggedNode& node);

/// The cause in the scheduler's words of today: "1.wgt0", "2.sup", "usr", …?
bool looks_like_cause(std::string_view word) noexcept;

} // namespace schedscope::import
