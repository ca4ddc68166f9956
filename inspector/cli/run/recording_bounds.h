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

void add_bound_options(CommandOptions& app, BoundArguments& bounds);

/// Throws Error(usage) for what can't be understood.
RecordingBounds parse_bounds(const BoundArguments& arguments);

} // namespace schedscope
