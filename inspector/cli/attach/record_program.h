#pragma once

#include "inspector/cli/attach/launched_program.h"
#include "traces/store/bounded/bounded_recorder.h"
#include "traces/store/writer.h"

#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class ChildTraces;

/// The file that a program is recorded into, as much of it as is wanted.
class ProgramTrace {
public:
    /// Throws Error where it can't be written.
    ProgramTrace(std::string path, const ProgramRecording& recording);

    Recorder& recorder() noexcept { return bounds_.any() ? static_cast<Recorder&>(bounded_) : writer_; }
    /// Completes it, and says so behind the sentences there are to say of it.
    void finish(const std::vector<std::string>& notes);

private:
    std::string path_;
    TraceWriter writer_;
    RecordingBounds bounds_;
    BoundedRecorder bounded_;
};

/// Runs any program on ggml and records what its schedulers decide. Returns its exit code; 4 where it exited with 0 and nothing
/// was recorded, or the trace could not be written.
int record_program(const ProgramRecording& recording);

/// The same of a program that sends already, until nothing more is sent. `children`: others that it starts; null: none.
int record_stream(StreamSource& source, const ProgramRecording& recording, ChildTraces* children = nullptr);

/// How often a stream is looked at whose program goes at its own speed.
constexpr int look_up_ms = 10;

/// What a trace says of a process: its program and its command, secrets masked.
std::vector<std::pair<std::string, std::string>> facts_of_process(pid_t id, bool no_text);

/// What `-o` says of a trace of another program: it is made, if it may be, and how much it keeps. Throws Error.
void check_trace(const ProgramRecording& recording);

} // namespace schedscope
