#pragma once

#include "runtime/system/descriptor.h"

#include <atomic>
#include <string>
#include <vector>

#include <sys/types.h>

namespace schedscope {

/// Notes which signals whoever started this program has it ignore, before it changes any: what it starts is to have the same.
void note_inherited_signals() noexcept;

/// A program that runs as if the user had started it: its standard streams, its terminal and its signals are this program's.
/// What somebody sends to this program alone, to end it or for a purpose of its own, is passed on; what a terminal sends
/// reaches both, and is the other's to obey. Or, where its place is apart: it has no terminal, and its output goes elsewhere.
class StartedProgram {
public:
    /// A variable of its environment; in the value %d stands for its process.
    struct Variable {
        std::string name, value;
    };
    struct Place {
        /// The descriptor that its standard output and error go to: then it reads nothing, is in a session of its own, where no
        /// terminal's signals come to it, and gets those that this program gets while nothing else handles them. −1: as here.
        int output = -1;
    };
    /// Throws Error(device) where it can't be started.
    StartedProgram(const std::vector<std::string>& command, const std::vector<Variable>& environment, const Place& place);
    ~StartedProgram(); ///< does not end it
    StartedProgram(const StartedProgram&) = delete;
    StartedProgram& operator=(const StartedProgram&) = delete;

    /// Until it ends, or so many ms have passed (−1: however long it takes). True: it has ended.
    bool wait(int timeout_ms);
    /// Asks it to end (SIGTERM): where its place is apart, all that it started, too. False: it has ended. Any thread.
    bool end();
    int code() const noexcept { return code_; } ///< its own once it has ended; 128 + n: signal n ended it
    bool killed() const noexcept { return killed_; }

private:
    pid_t id_ = -1;
    bool apart_;
    Descriptor process_; ///< readable once it has ended; none on an old kernel
    std::atomic<bool> ended_ = false;
    bool killed_ = false;
    int code_ = 0;
};

/// The file that starting this command would run; empty: there is none.
std::string found_program(const std::string& command);

} // namespace schedscope
