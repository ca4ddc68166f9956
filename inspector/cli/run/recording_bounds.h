#pragma once

#include "inspector/cli/line/command_options.h"
#include "traces/store/bounded/bounded_recorder.h"

#include <memory>
#include <string>

namespace schedscope {

/// `--last`, `--for` and `--when`, as they were typed.
struct BoundArguments {
    std::string last, duration, when;

    bool any() const noexcept { return !last.empty() || !duration.empty() || !when.empty(); }
};

/// `from`: when the time of `--for` begins, and what its end means.
void add_bound_options(CommandOptions& app, BoundArguments& bounds, const std::string& from = "from the first evaluation on");

/// Throws Error(usage) for what can't be understood.
RecordingBounds parse_bounds(const BoundArguments& arguments);

/// What the bounds kept of a recording that is over, behind its number of evaluations: ": 2 that match, and 4 that plans and
/// memory depend on (41 more were seen)". Empty: it is all there.
std::string kept_by(const RecordingBounds& bounds, int64_t n_evaluations, const BoundedRecorder& recorder);

} // namespace schedscope
