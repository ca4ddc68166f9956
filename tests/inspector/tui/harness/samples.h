#pragma once

#include "inspector/tui/inspector.h"
#include "runtime/error.h"
#include "runtime/scheduler/optimised_order.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"
#include "traces/store/reading/reader.h"

#include <cstdio>
#include <memory>
#include <string>

namespace schedscope::test {

inline std::string sample_path(const std::string& name) { return paths::sample(name); }
inline std::shared_ptr<const RecordSource> sample(const std::string& name) {
    return std::make_shared<TraceReader>(sample_path(name));
}

/// The inspector over one of the samples.
inline int inspect_sample(const std::string& name, const std::string& diff = "") {
    InspectorOptions options;
    options.backends.optimise = optimised_nodes;
    options.title = name;
    options.diff = diff;
    try {
        return run_inspector(sample(name), options);
    } catch (const Error& error) {
        std::fprintf(stderr, "schedscope: %s\n", error.what());
        return error.exit_code();
    }
}

/// The line of the screen that contains all of the texts; "": none does.
template <typename... Texts> std::string line_with(Terminal& terminal, const Texts&... texts) {
    for (const std::string& line : terminal.lines()) {
        if (((line.find(texts) != std::string::npos) && ...)) {
            return line;
        }
    }
    return {};
}

} // namespace schedscope::test
