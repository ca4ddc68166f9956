#include "inspector/cli/commands/commands.h"
#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/attach/inspect_program.h"
#include "inspector/cli/attach/program_options.h"
#include "inspector/cli/run/live_run.h"
#include "inspector/cli/show/trace_input.h"
#include "inspector/tui/inspector.h"
#include "runtime/error.h"
#include "traces/store/reading/reader.h"
#include "traces/store/stop_signal.h"

#include <filesystem>
#include <memory>
#include <utility>

namespace schedscope {

namespace {

int inspect_trace(const std::string& path, const std::string& diff) {
    InspectorOptions options;
    options.backends = backend_knowledge();
    options.diff = diff;
    require_trace(path);
    if (!diff.empty()) {
        require_trace(diff);
        TraceReader{diff}; // what is no trace is told before the terminal is taken
    }
    options.title = std::filesystem::path(path).filename().string();
    options.trace_path = path;
    options.check = true;
    options.stop = std::make_shared<StopSignal>();
    const auto reader =
        std::make_shared<TraceReader>(path, TraceReader::Options{.stop = [stop = options.stop] { return stop->wanted(); }});
    options.changed = [reader] { return reader->changed(); };
    for (const std::string& note : reader->notes()) {
        options.note += (options.note.empty() ? options.title + ": " : "; ") + note;
    }
    return run_inspector(reader, options);
}

/// Options of a run say nothing about a trace.
void refuse_run_options(const CommandOptions& app) {
    if (const std::optional<std::string> option = app.first_given_beside({"trace", "--diff"})) {
        throw Error(ErrorKind::usage, "inspect: " + *option + " goes with -m, not with a trace");
    }
}

} // namespace

CommandAction add_inspect(CommandOptions& app) {
    auto arguments = add_run_options(app);
    auto trace = std::make_shared<std::string>();
    app.add_option("trace", *trace, "Trace file; or -m M …, or -- PROGRAM …, for what runs");
    auto diff = std::make_shared<std::string>();
    app.add_option("--diff", *diff, "With a trace: another one, to be shown beside it").names_a_file();
    app.add_option("--record,-o,--output", arguments->record, "Of what runs: record to this trace, too").names_a_file();
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    auto foreign = std::make_shared<ProgramRecording>();
    add_program_options(app, *foreign);
    return [arguments, trace, diff, foreign, app] {
        if (app.has_dashes() && !trace->empty()) { // the first argument is the first one behind them
            foreign->command.insert(foreign->command.begin(), std::exchange(*trace, {}));
        }
        if (!app.has_dashes() && !foreign->command.empty()) {
            throw Error(ErrorKind::usage, "inspect: one trace; a program stands behind --");
        }
        if (!diff->empty() && trace->empty()) {
            throw Error(ErrorKind::usage, "inspect: --diff goes with a trace, not with what runs");
        }
        refuse_options_of_a_run(app, *foreign);
        if (!foreign->command.empty()) {
            foreign->trace = arguments->record;
            foreign->force = arguments->force;
            foreign->no_text = arguments->no_text;
            foreign->watch = arguments->watch;
            return inspect_program(*foreign);
        }
        if (!trace->empty() && !arguments->run.model.empty()) {
            throw Error(ErrorKind::usage, "inspect: a trace and -m were given; choose one");
        }
        if (!trace->empty()) {
            refuse_run_options(app);
            return inspect_trace(*trace, *diff);
        }
        if (arguments->run.model.empty()) {
            throw Error(ErrorKind::usage, "inspect: name a trace, a model with -m, or a program behind --");
        }
        settle(*arguments);
        return run_live(*arguments);
    };
}

} // namespace schedscope
