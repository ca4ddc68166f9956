#include "inspector/cli/commands/commands.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/show/export_file.h"
#include "inspector/cli/show/trace_input.h"
#include "runtime/error.h"
#include "traces/export/export_jsonl.h"
#include "traces/export/export_perfetto.h"
#include "viz/report/report.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <vector>

namespace schedscope {

namespace {

struct ExportArguments {
    std::string trace, jsonl, perfetto, html;
    bool force = false;
};

constexpr ExportFormat jsonl_format{"a file of records", "{\"step\":", ".jsonl"};
constexpr ExportFormat perfetto_format{"a Perfetto trace of this program", "schedscope", ".pftrace", true};
constexpr ExportFormat html_format{"a report of this program", "<title>schedscope report", ".html"};

/// One of the files that a command line asks for.
struct Export {
    const char* option;
    std::string path; ///< empty: not asked for
    ExportFormat format;
    std::function<void(std::ostream&)> write;

    bool is_file() const { return path != "-"; }
};

/// The page, told on a terminal while it is made; Ctrl-C gives up. Throws as make_report and open_trace do.
std::string report_of(const std::string& trace) {
    History history(open_trace(trace));
    ProgressLine progress;
    ReportOptions options;
    options.trace = std::filesystem::path(trace).filename().string();
    options.layout.cancelled = [&] {
        progress.tick();
        return interrupted();
    };
    options.progress = [&](const std::string& what) { progress.say(what); };
    catch_interrupts();
    return make_report(history, options);
}

} // namespace

CommandAction add_export(CommandOptions& app) {
    auto options = std::make_shared<ExportArguments>();
    add_trace_argument(app, options->trace);
    app.add_option("--perfetto", options->perfetto,
                   "Write a timeline for Perfetto (ui.perfetto.dev) to this file (-: standard output)")
        .names_a_file();
    app.add_option("--jsonl", options->jsonl, "Write every record as a line of JSON to this file (-: standard output)")
        .names_a_file();
    app.add_option("--html", options->html,
                   "Write a report to this file: one page that opens in any browser, without a network (-: standard output)")
        .names_a_file();
    app.add_flag("--force", options->force, "The file may replace one that is no such export");
    return [options] {
        std::shared_ptr<const RecordSource> source;
        const auto opened = [&] { return source ? source : source = open_trace(options->trace); };
        std::vector<Export> asked{
            {"--html", options->html, html_format, [&](std::ostream& out) { out << report_of(options->trace); }},
            {"--perfetto", options->perfetto, perfetto_format, [&](std::ostream& out) { export_perfetto(opened(), out); }},
            {"--jsonl", options->jsonl, jsonl_format, [&](std::ostream& out) { export_jsonl(*opened(), out); }},
        };
        std::erase_if(asked, [](const Export& e) { return e.path.empty(); });
        if (asked.empty()) {
            throw Error(ErrorKind::usage, "export: say what to write: --perfetto FILE, --jsonl FILE or --html FILE");
        }
        NamedFiles files;
        files.reads("trace", options->trace);
        for (const Export& e : asked) {
            files.writes(e.option, e.is_file() ? e.path : "");
        }
        files.check();
        if (std::count_if(asked.begin(), asked.end(), [](const Export& e) { return !e.is_file(); }) > 1) {
            throw Error(ErrorKind::usage, "export: standard output takes one of them: name a file for the others");
        }
        for (const Export& e : asked) {
            check_export(e.path, e.format, options->force);
        }
        if (std::any_of(asked.begin(), asked.end(), [](const Export& e) { return e.is_file(); })) {
            catch_interrupts();
        }
        for (const Export& e : asked) {
            if (!interrupted()) {
                write_export(e.path, e.write);
                say_what_it_is(e.path, e.format);
            }
        }
        return 0;
    };
}

} // namespace schedscope
