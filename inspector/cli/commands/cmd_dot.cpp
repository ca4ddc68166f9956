#include "inspector/cli/commands/commands.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/show/trace_input.h"
#include "runtime/error.h"
#include "traces/history/words/words.h"
#include "viz/pictures/picture.h"

#include <iostream>

namespace schedscope {

namespace {

constexpr const char* every_pass = "all";

struct DotArguments {
    std::string trace, view, pass, output;
    std::optional<int> eval;
    std::optional<Step> step;
};

PictureView choose_view(History& history, const DotArguments& options, EvaluationId evaluation) {
    if (options.view.empty()) {
        const PictureView view = default_view(history, evaluation);
        if (options.pass == every_pass && view == PictureView::nodes) {
            tell("drawing --view nodes, since there are splits from pass 5 on only");
            return view;
        }
        if (view != PictureView::nodes) {
            tell("more than " + words::count(max_nodes_view) + " nodes: drawing --view layers; --view nodes draws every tensor");
            return view;
        }
        return PictureView::splits;
    }
    const std::optional<PictureView> view = picture_view_from_name(options.view);
    if (!view) {
        throw Error(ErrorKind::usage, "--view " + options.view + ": there is splits, layers, nodes and memory");
    }
    return *view;
}

} // namespace

CommandAction add_dot(CommandOptions& app) {
    auto options = std::make_shared<DotArguments>();
    add_trace_argument(app, options->trace);
    app.add_option("--view", options->view, "splits|layers|nodes|memory (default: splits; layers above 2,000 nodes)");
    app.add_option(
        "--pass", options->pass,
        "State at the end of this pass; all: one picture a pass, NAME-1.svg, NAME-2a.svg, …, with everything in its place");
    app.add_option("--step", options->step, "State after this record");
    add_eval_option(app, options->eval);
    app.add_option("-o,--output", options->output,
                   "File: .dot, .svg, .png or .pdf by suffix (default, and -: dot to standard output)");
    return [options] {
        if (options->output == "-") { // as of every export
            options->output.clear();
        }
        NamedFiles files;
        files.reads("trace", options->trace);
        files.writes("-o", options->output);
        files.check();
        History history(open_trace(options->trace));
        PictureOptions picture;
        picture.eval = choose_evaluation(history, options->eval);
        picture.view = choose_view(history, *options, picture.eval);
        picture.step = options->step;
        const bool all = options->pass == every_pass;
        if (all && (options->output.empty() || options->step)) {
            throw Error(ErrorKind::usage, options->step ? "--pass all: not together with --step"
                                                        : "--pass all: one picture a pass needs a name for them, -o FILE");
        }
        if (!options->pass.empty() && !all) {
            picture.pass = parse_pass(options->pass);
        }
        if (options->output.empty()) {
            std::cout << make_dot(history, picture);
            return 0;
        }
        const std::optional<PictureFormat> format = picture_format_of(options->output);
        if (!format) {
            throw Error(ErrorKind::usage, options->output + ": a picture's name ends in .dot, .svg, .png or .pdf");
        }
        catch_interrupts();
        ProgressLine progress;
        progress.say("laying out " + options->output);
        picture.cancelled = [&] {
            progress.tick();
            return interrupted();
        };
        if (all) {
            for (const std::string& name : write_pictures_of_passes(history, picture, *format, options->output)) {
                progress.clear();
                OutputLine(std::cout) << name;
            }
            return 0;
        }
        write_picture(history, picture, *format, options->output);
        return 0;
    };
}

} // namespace schedscope
