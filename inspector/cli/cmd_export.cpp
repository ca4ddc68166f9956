#include "inspector/cli/commands.h"

#include "inspector/cli/export_file.h"
#include "inspector/cli/run_arguments.h"
#include "inspector/cli/trace_input.h"
#include "runtime/error.h"
#include "traces/export_jsonl.h"
#include "traces/export_perfetto.h"

namespace schedscope {

namespace {

struct Options {
    std::string trace, jsonl, perfetto;
    bool force = false;
};

constexpr ExportFormat jsonl_format{"a file of records", "{\"step\":"};
constexpr ExportFormat perfetto_format{"a Perfetto trace of this program", "schedscope", true};

} // namespace

Action add_export(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "Trace file")->required();
    app.add_option("--perfetto", options->perfetto,
                   "Write a timeline for Perfetto (ui.perfetto.dev) to this file (-: standard output)")
        ->check(names_a_file());
    app.add_option("--jsonl", options->jsonl, "Write every record as a line of JSON to this file (-: standard output)")
        ->check(names_a_file());
    app.add_flag("--force", options->force, "The file may replace one that is no such export");
    return [options] {
        if (options->perfetto.empty() && options->jsonl.empty()) {
            throw Error(ErrorKind::usage, "export: say what to write: --perfetto FILE or --jsonl FILE");
        }
        const auto source = open_trace(options->trace);
        if (!options->perfetto.empty()) {
            write_export(options->perfetto, options->trace, perfetto_format, options->force,
                         [&](std::ostream& out) { export_perfetto(source, out); });
        }
        if (!options->jsonl.empty()) {
            write_export(options->jsonl, options->trace, jsonl_format, options->force,
                         [&](std::ostream& out) { export_jsonl(*source, out); });
        }
        return 0;
    };
}

} // namespace schedscope
