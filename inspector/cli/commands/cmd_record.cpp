#include "inspector/cli/commands/commands.h"

#include "inspector/cli/attach/program_options.h"
#include "inspector/cli/attach/record_program.h"
#include "inspector/cli/run/recording.h"
#include "runtime/error.h"

namespace schedscope {

CommandAction add_record(CommandOptions& app) {
    auto arguments = add_run_options(app);
    arguments->record_option = "-o";
    auto dry_run = std::make_shared<bool>(false);
    auto foreign = std::make_shared<ProgramRecording>();
    app.add_option("-o,--output", arguments->record, "Trace to write").required().names_a_file();
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    app.add_flag("--dry-run", *dry_run, "Plan from the model's header: no weights are loaded, nothing is generated");
    app.add_option("--n-prompt", arguments->n_prompt, "With --dry-run, in place of a prompt: its length in tokens")
        .within(1, 1 << 24);
    add_bound_options(app, arguments->bounds);
    add_program_options(app, *foreign);
    return [arguments, dry_run, foreign, app] {
        refuse_options_of_a_run(app, *foreign);
        if (!foreign->command.empty()) {
            foreign->trace = arguments->record;
            foreign->force = arguments->force;
            foreign->no_text = arguments->no_text;
            foreign->watch = arguments->watch;
            foreign->bounds = arguments->bounds;
            return record_program(*foreign);
        }
        if (arguments->n_prompt > 0 && !*dry_run) {
            throw Error(ErrorKind::usage, "--n-prompt: goes with --dry-run");
        }
        settle(*arguments);
        return run_and_record(*arguments, *dry_run);
    };
}

} // namespace schedscope
