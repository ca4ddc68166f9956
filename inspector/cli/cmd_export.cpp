#include "inspector/cli/commands.h"

#include "inspector/cli/export_report.h"
#include "inspector/cli/trace_input.h"
#include "runtime/error.h"
#include "traces/export_jsonl.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace schedscope {

namespace {

struct Options {
    std::string trace, jsonl, html;
};

void write_jsonl(const Options& options) {
    const auto source = open_trace(options.trace);
    if (options.jsonl == "-") {
        export_jsonl(*source, std::cout);
        return;
    }
    std::ofstream out(options.jsonl, std::ios::binary);
    if (out) {
        export_jsonl(*source, out);
        out.close();
    }
    if (!out) {
        throw Error(ErrorKind::device, options.jsonl + ": " + std::strerror(errno));
    }
}

} // namespace

Action add_export(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "Trace file")->required();
    app.add_option("--jsonl", options->jsonl, "Write every record as a line of JSON to this file (-: standard output)");
    app.add_option("--html", options->html, "Write a report to this file: one page that opens in any browser, without a network");
    return [options] {
        if (options->jsonl.empty() && options->html.empty()) {
            throw Error(ErrorKind::usage, "export: say where to: --jsonl FILE or --html FILE (see schedscope export --help)");
        }
        if (!options->jsonl.empty()) {
            write_jsonl(*options);
        }
        if (!options->html.empty()) {
            export_report(options->trace, options->html);
        }
        return 0;
    };
}

} // namespace schedscope
