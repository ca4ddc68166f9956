#include "inspector/cli/attach/launched_program.h"

#include "inspector/cli/attach/masked_command.h"
#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/attach/watched_nodes.h"
#include "inspector/cli/attach/why_nothing.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/system/visible_text.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace schedscope {

LaunchedProgram::LaunchedProgram(const ProgramRecording& recording, const StartedProgram::Place& place)
    : recording_(recording), path_(found_program(recording.command.front())) {
    watch_nodes(pages_.control(), recording.watch);
    program_.emplace(recording.command, pages_.environment({recording.sync, recording.children}), place);
}

std::string LaunchedProgram::name() const { return std::filesystem::path(recording_.command.front()).filename().string(); }

std::vector<std::pair<std::string, std::string>> LaunchedProgram::facts() const {
    return {{"program", recording_.command.front()}, {"command", masked_command(recording_.command)}};
}

/// With --children the recorded process need not be the one that was started.
bool LaunchedProgram::wait(int timeout_ms) {
    if (!program_->wait(timeout_ms)) {
        return false;
    }
    const auto owner = static_cast<pid_t>(__atomic_load_n(&pages_.control().owner, __ATOMIC_RELAXED));
    if (!recording_.children || owner <= 0 || kill(owner, 0) != 0) {
        return true;
    }
    usleep(static_cast<useconds_t>(timeout_ms) * 1000);
    return false;
}

std::string LaunchedProgram::how_ended() const {
    const int code = program_->code();
    return code == 0 ? std::string() : program_->killed() ? strsignal(code - 128) : "exit code " + std::to_string(code);
}

void LaunchedProgram::leave() {
    if (program_->end()) {
        tell(name() + " is asked to end (SIGTERM), because the inspector was left while it ran");
    }
}

int LaunchedProgram::code_after(const ProgramStream& stream) const {
    const int code = program_->code();
    if (stream.n_evaluations() > 0) {
        for (const std::string& sentence : unmatched_patterns(pages_.control(), recording_.watch)) {
            tell(sentence);
        }
    }
    if (stream.n_evaluations() == 0) {
        const std::string nothing = visible(recording_.command.front()) +
                                    ": nothing was recorded: " + why_nothing(path_, pages_.control(), recording_.children);
        if (code == 0) {
            throw Error(ErrorKind::device, nothing);
        }
        tell(nothing); // the exit code is the program's
    }
    return stream.damaged() && code == 0 ? exit_code(ErrorKind::device) : code;
}

} // namespace schedscope
