#include "inspector/cli/commands.h"

#include "inspector/cli/live_run.h"
#include "inspector/cli/trace_input.h"
#include "inspector/tui/inspector.h"
#include "runtime/error.h"

#include <filesystem>

namespace schedscope {

namespace {

int inspect_trace(const std::string& path) {
    InspectorOptions options;
    options.title = std::filesystem::path(path).filename().string();
    return run_inspector(open_trace(path), options);
}

} // namespace

Action add_inspect(CLI::App& app) {
    auto arguments = add_run_options(app);
    auto trace = std::make_shared<std::string>();
    app.add_option("trace", *trace, "Trace file; or -m M … for a running program");
    app.add_option("--record", arguments->record, "With -m: record to this trace, too");
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    return [arguments, trace] {
        if (!trace->empty() && !arguments->run.model.empty()) {
            throw Error(ErrorKind::usage, "inspect: a trace and -m were given; choose one");
        }
        if (!trace->empty()) {
            return inspect_trace(*trace);
        }
        if (arguments->run.model.empty()) {
            throw Error(ErrorKind::usage, "inspect: name a trace, or a model with -m");
        }
        settle(*arguments);
        return run_live(*arguments);
    };
}

} // namespace schedscope
