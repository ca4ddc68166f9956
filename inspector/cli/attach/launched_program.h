#pragma once

#include "inspector/cli/attach/started_program.h"
#include "inspector/cli/attach/stream_source.h"
#include "inspector/cli/run/recording_bounds.h"

#include <optional>
#include <string>
#include <vector>

namespace schedscope {

/// How another program is recorded.
struct ProgramRecording {
    std::vector<std::string> command; ///< the program and its arguments
    std::string trace;                ///< empty: no file
    bool force = false, no_text = false;
    std::vector<std::string> watch; ///< patterns of nodes whose values are recorded
    bool sync = false;              ///< exact times of splits
    bool children = false;          ///< the first process with a scheduler is recorded, whichever the program starts
    BoundArguments bounds;          ///< how much of it a trace keeps
};

/// A program that was started to be recorded.
class LaunchedProgram final : public StreamSource {
public:
    /// Throws Error(device) where it can't be started.
    LaunchedProgram(const ProgramRecording& recording, const StartedProgram::Place& place);

    const SharedPages& pages() const override { return pages_; }
    std::string name() const override;
    std::vector<std::pair<std::string, std::string>> facts() const override;
    bool wait(int timeout_ms) override;
    bool killed() const override { return program_->killed(); }
    std::string how_ended() const override;
    void leave() override;
    int code_after(const ProgramStream& stream) const override;

private:
    ProgramRecording recording_;
    std::string path_;
    SharedPages pages_;
    std::optional<StartedProgram> program_; ///< once the pages say what is wanted
};

} // namespace schedscope
