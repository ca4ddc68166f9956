#pragma once

#include "inspector/cli/attach/launched_program.h"

#include <memory>
#include <vector>

namespace schedscope {

/// Traces of all processes of a program that schedule but the first, each in a file of its own: "run-123.trace" beside
/// "run.trace". Memory to write to is there before a process asks for it, so that nothing is lost of one that soon ends.
class ChildTraces {
public:
    /// `first`: the program's own pages, which outlive this.
    ChildTraces(const SharedPages& first, const ProgramRecording& recording);
    ~ChildTraces();
    ChildTraces(const ChildTraces&) = delete;
    ChildTraces& operator=(const ChildTraces&) = delete;

    /// Looks for processes that have begun, and takes what is there. False: there was nothing. Throws Error where a trace can't
    /// be written.
    bool take();
    bool all_ended() const;
    /// Completes all of them, and tells what there is to say.
    void finish();

private:
    struct Child;
    void offer(int place);

    attach::Control& control_;
    ProgramRecording recording_;
    std::vector<std::unique_ptr<Child>> children_; ///< those that are offered, and those that processes have
};

} // namespace schedscope
