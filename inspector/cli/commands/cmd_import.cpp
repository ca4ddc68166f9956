#include "inspector/cli/commands/commands.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/run/model_graphs.h"
#include "runtime/error.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/words.h"
#include "traces/import/import_log.h"
#include "traces/store/output.h"
#include "traces/store/writer.h"

#include <iostream>
#include <memory>

namespace schedscope {

namespace {

struct ImportArguments {
    std::string log, output, model;
    bool force = false;
};

} // namespace

CommandAction add_import(CommandOptions& app) {
    auto options = std::make_shared<ImportArguments>();
    app.add_option("log", options->log,
                   "What a ggml program wrote with GGML_SCHED_DEBUG=2 (or 1), or a stream of any program; -: standard input")
        .required();
    app.add_option("-m,--model", options->model, "GGUF file of the model that a log is of: fills in what the log leaves out");
    app.add_option("-o,--output", options->output, "Trace file to write").required();
    app.add_flag("--force", options->force, "Overwrite the output file even if it is not a trace");
    return [options] {
        NamedFiles files;
        files.reads("log", options->log);
        files.reads_model("-m", options->model);
        files.writes("-o", options->output);
        files.check();
        if (is_trace(options->log)) {
            throw Error(ErrorKind::input,
                        options->log + ": is a trace already, not a log: schedscope inspect " + options->log + " opens it");
        }
        check_output(options->output, options->force);
        catch_interrupts();
        const std::unique_ptr<ModelGraphs> model = options->model.empty() ? nullptr : graphs_of_model(options->model);
        TraceWriter writer(options->output);
        const ImportResult result = import_file(options->log, writer, &interrupt_flag(), {}, model.get());
        writer.close();
        if (result.stopped && result.n_graphs == 0) {
            return exit_interrupted;
        }
        for (const std::string& note : result.notes) {
            tell(import::input_name(options->log) + ": " + note);
        }
        std::cout << visible(options->output) << ": " << words::counted(result.n_graphs, "graph") << ", "
                  << words::counted(result.n_splits, "split") << ", "
                  << (result.n_nodes == 0 && result.n_splits > 0
                          ? "no nodes: they are logged with GGML_SCHED_DEBUG=2"
                          : words::counted(result.n_nodes, "node") + words::not_in_log(result.n_left_out))
                  << '\n';
        if (model != nullptr) {
            std::cout << "filled in " << filled_in_words(result) << '\n';
        }
        return result.stopped ? exit_interrupted : 0;
    };
}

} // namespace schedscope
