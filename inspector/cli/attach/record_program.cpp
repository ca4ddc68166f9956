#include "inspector/cli/attach/record_program.h"

#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/lines.h"
#include "runtime/system/number_words.h"
#include "traces/store/output.h"
#include "traces/store/writer.h"

#include <iostream>

namespace schedscope {

void check_trace(const ProgramRecording& recording) {
    NamedFiles files;
    files.writes("-o", recording.trace);
    files.check();
    check_output(recording.trace, recording.force);
}

void tell_of_trace(const std::string& trace, const ProgramStream& stream, const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
        tell(note);
    }
    OutputLine(std::cerr) << "wrote " << trace << ": " << words::counted(stream.n_evaluations(), "evaluation")
                          << "; next: schedscope inspect " << trace;
}

int record_stream(StreamSource& source, const ProgramRecording& recording) {
    TraceWriter::Options options;
    options.texts = !recording.no_text;
    TraceWriter writer(recording.trace, options);
    ProgramStream stream(source.pages(), writer, source.facts());
    for (bool any = false; !source.wait(any ? 0 : look_up_ms);) {
        any = stream.take();
        if (stream.failed() && !source.goes_on_unread()) {
            source.leave();
        }
    }
    std::vector<std::string> notes = stream.finish(source.killed());
    for (std::string& note : source.notes()) {
        notes.push_back(std::move(note));
    }
    if (stream.has_records()) {
        writer.close();
        tell_of_trace(recording.trace, stream, notes);
    }
    return source.code_after(stream);
}

int record_program(const ProgramRecording& recording) {
    check_trace(recording);
    LaunchedProgram program(recording, {});
    return record_stream(program, recording);
}

} // namespace schedscope
