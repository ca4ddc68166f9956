#include "inspector/cli/attach/inspect_program.h"

#include "inspector/cli/attach/live_stream.h"
#include "inspector/cli/attach/record_program.h"
#include "inspector/tui/background/program_output.h"
#include "inspector/tui/inspector.h"

namespace schedscope {

int inspect_program(const ProgramRecording& recording) {
    check_terminal(); // before the program does anything
    if (!recording.trace.empty()) {
        check_trace(recording);
    }
    const auto output = std::make_shared<tui::ProgramOutput>();
    LaunchedProgram program(recording, {output->descriptor_for_program()});
    return inspect_stream(program, {recording.trace, recording.no_text, output});
}

} // namespace schedscope
