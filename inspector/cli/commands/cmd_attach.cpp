#include "inspector/cli/commands/commands.h"

#include "inspector/cli/attach/joining/joined_program.h"
#include "runtime/error.h"

namespace schedscope {

CommandAction add_attach(CommandOptions& app) {
    auto id = std::make_shared<int>(0);
    auto recording = std::make_shared<ProgramRecording>();
    app.add_option("pid", *id, "The process: a program on ggml that runs already").required();
    app.add_option("-o,--output", recording->trace, "Trace to write; without it the inspector shows what runs").names_a_file();
    app.add_flag("--force", recording->force, "The trace may replace a file that is no trace");
    app.add_flag("--no-text", recording->no_text, "Leave arguments, prompts and text out of the trace");
    app.add_flag("--sync", recording->sync, "Wait for the end of each split, so that its time is exact");
    add_bound_options(app, recording->bounds, "from now on, then the program is left as it was");
    return [id, recording] {
        if (recording->trace.empty() && recording->bounds.any()) {
            throw Error(ErrorKind::usage, "--last, --for, --when: go with -o");
        }
        if (*id <= 0) {
            throw Error(ErrorKind::usage, "attach: a process has a number from 1 on");
        }
        return attach_program(*id, *recording);
    };
}

} // namespace schedscope
