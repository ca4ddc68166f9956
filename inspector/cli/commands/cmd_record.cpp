#include "inspector/cli/commands/commands.h"

#include "inspector/cli/attach/record_program.h"
#include "inspector/cli/run/recording.h"
#include "runtime/error.h"

namespace schedscope {

namespace {

/// What `record -- PROGRAM` takes of the options of a run.
void refuse_options_of_a_run(const CommandOptions& app) {
    if (const auto other = app.first_given_beside({"--output", "--force", "--no-text", "--sync", "--children", "--last", "--for", "--when", "program"})) {
        throw Error(ErrorKind::usage, *other + ": goes with -m; options of the program stand behind its name");
    }
}

} // namespace

CommandAction add_record(CommandOptions& app) {
    auto arguments = add_run_options(app);
    arguments->record_option = "-o";
    auto dry_run = std::make_shared<bool>(false);
    auto foreign = std::make_shared<ProgramRecording>();
    app.add_option("-o,--output", arguments->record, "Trace to write").required().names_a_file();
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    app.add_flag("--dry-run", *dry_run, "Plan from the model's header: no weights are loaded, nothing is generated");
    add_bound_options(app, arguments->bounds);
    const char* group = "Another program";
    app.add_option("program", foreign->command, "Behind --: a program on ggml and its arguments, which is run and recorded")
        .group(group);
    app.add_flag("--sync", foreign->sync, "Wait for the end of each split, so that its time is exact", group);
    app.add_flag("--children", foreign->children, "Record what it starts, too: the first process that schedules", group);
    return [arguments, dry_run, foreign, app] {
        if (!foreign->command.empty()) {
            refuse_options_of_a_run(app);
            foreign->trace = arguments->record;
            foreign->force = arguments->force;
            foreign->no_text = arguments->no_text;
            foreign->bounds = arguments->bounds;
            return record_program(*foreign);
        }
        if (foreign->sync || foreign->children) {
            throw Error(ErrorKind::usage, std::string(foreign->sync ? "--sync" : "--children") + ": goes with -- PROGRAM");
        }
        settle(*arguments);
        return run_and_record(*arguments, *dry_run);
    };
}

} // namespace schedscope
