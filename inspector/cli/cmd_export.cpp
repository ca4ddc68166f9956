#include "inspector/cli/commands.h"

#include "inspector/cli/named_files.h"
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
    std::string trace, jsonl;
};

} // namespace

Action add_export(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "Trace file")->required();
    app.add_option("--jsonl", options->jsonl, "Write every record as a line of JSON to this file (-: standard output)")
        ->required();
    return [options] {
        NamedFiles files;
        files.reads("trace", options->trace);
        files.writes("--jsonl", options->jsonl != "-" ? options->jsonl : "");
        files.check();
        const auto source = open_trace(options->trace);
        if (options->jsonl == "-") {
            export_jsonl(*source, std::cout);
            return 0;
        }
        std::ofstream out(options->jsonl, std::ios::binary);
        if (out) {
            export_jsonl(*source, out);
            out.close();
        }
        if (!out) {
            throw Error(ErrorKind::device, options->jsonl + ": " + std::strerror(errno));
        }
        return 0;
    };
}

} // namespace schedscope
