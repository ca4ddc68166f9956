#include "inspector/cli/attach/program_options.h"

#include "runtime/error.h"
#include "runtime/system/visible_text.h"

namespace schedscope {

void add_program_options(CommandOptions& app, ProgramRecording& recording) {
    const char* group = "Another program";
    app.add_option("program", recording.command, "Behind --: a program on ggml and its arguments, which is run and recorded")
        .group(group);
    app.add_flag("--sync", recording.sync, "Wait for the end of each split, so that its time is exact", group);
    app.add_flag("--children", recording.children,
                 "Record what it starts, too: the first process that schedules, and each other one in TRACE-PID", group);
}

void refuse_options_of_a_run(const CommandOptions& app, const ProgramRecording& recording) {
    if (recording.command.empty()) {
        if (recording.sync || recording.children) {
            throw Error(ErrorKind::usage, std::string(recording.sync ? "--sync" : "--children") + ": goes with -- PROGRAM");
        }
        return;
    }
    if (const auto other = app.first_given_beside({"--output", "--record", "--force", "--no-text", "--watch", "--sync",
                                                   "--children", "--last", "--for", "--when", "program", "trace"})) {
        throw Error(ErrorKind::usage, *other + ": belongs to a run of a model, and '" + visible_name(recording.command.front()) +
                                          "' is a program to record, whose options stand behind its name");
    }
}

} // namespace schedscope
