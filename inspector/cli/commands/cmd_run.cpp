#include "inspector/cli/commands/commands.h"

#include "inspector/cli/run/live_run.h"
#include "inspector/cli/run/recording.h"

namespace schedscope {

CommandAction add_run(CommandOptions& app) {
    auto arguments = add_run_options(app);
    app.add_option("--record", arguments->record, "Record to this trace").names_a_file();
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    app.add_flag("--step", arguments->step, "Inside the inspector, held at each record");
    return [arguments] {
        settle(*arguments);
        return arguments->step ? run_live(*arguments) : run_and_record(*arguments, false);
    };
}

} // namespace schedscope
