#include "inspector/cli/commands.h"

#include "inspector/cli/export_file.h"
#include "inspector/cli/export_report.h"
#include "inspector/cli/named_files.h"
#include "inspector/cli/run_arguments.h"
#include "inspector/cli/trace_input.h"
#include "runtime/error.h"
#include "traces/export_jsonl.h"
#include "traces/export_perfetto.h"

namespace schedscope {

namespace {

struct Options {
    std::string trace, jsonl, perfetto, html;
    bool force = false;
};

constexpr ExportFormat jsonl_format{"a file of records", "{\"step\":"};
constexpr ExportFormat perfetto_format{"a Perfetto trace of this program", "schedscope", true};
constexpr ExportFormat html_format{"a report of this program", "<title>schedscope report"};

} // namespace

Action add_export(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "Trace file")->required();
    app.add_option("--perfetto", options->perfetto,
                   "Write a timeline for Perfetto (ui.perfetto.dev) to this file (-: standard output)")
        ->check(names_a_file());
    app.add_option("--jsonl", options->jsonl, "Write every record as a line of JSON to this file (-: standard output)")
        ->check(names_a_file());
    app.add_option("--html", options->html,
                   "Write a report to this file: one page that opens in any browser, without a network (-: standard output)")
        ->check(names_a_file());
    app.add_flag("--force", options->force, "The file may replace one that is no such export");
    return [options] {
        if (options->perfetto.empty() && options->jsonl.empty() && options->html.empty()) {
            throw Error(ErrorKind::usage, "export: say what to write: --perfetto FILE, --jsonl FILE or --html FILE");
        }
        NamedFiles files;
        files.reads("trace", options->trace);
        for (const auto& [option, file] :
             {std::pair{"--perfetto", &options->perfetto}, {"--jsonl", &options->jsonl}, {"--html", &options->html}}) {
            files.writes(option, *file != "-" ? *file : "");
        }
        files.check();
        if (!options->html
                 .empty()) { // made before its file is touched, so that a report that is there stays when this one is given up
            const std::string report = report_of(options->trace);
            write_export(options->html, html_format, options->force, [&](std::ostream& out) { out << report; });
        }
        if (options->perfetto.empty() && options->jsonl.empty()) {
            return 0;
        }
        const auto source = open_trace(options->trace);
        if (!options->perfetto.empty()) {
            write_export(options->perfetto, perfetto_format, options->force,
                         [&](std::ostream& out) { export_perfetto(source, out); });
        }
        if (!options->jsonl.empty()) {
            write_export(options->jsonl, jsonl_format, options->force, [&](std::ostream& out) { export_jsonl(*source, out); });
        }
        return 0;
    };
}

} // namespace schedscope
