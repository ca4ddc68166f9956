#pragma once

#include "inspector/cli/attach/stream_source.h"

#include <memory>
#include <string>

namespace schedscope {

namespace tui {
class ProgramOutput;
}

/// How a program's stream is looked at while it comes.
struct LiveStream {
    std::string trace; ///< that is written, too; empty: none
    bool no_text = false;
    std::shared_ptr<tui::ProgramOutput> output; ///< what it writes, for ":output"; null: that goes elsewhere
};

/// The inspector over a program that runs, which is held before its first plan, as our own runtime is at its first record. Of a
/// program that has ended before that, there is nothing to look at. Where the user quits while it runs, its source knows what
/// that means to it; then its end is waited for. Returns the exit code.
int inspect_stream(StreamSource& source, const LiveStream& options);

} // namespace schedscope
