#pragma once

#include "inspector/cli/attach/shared_pages.h"

#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class ProgramStream;

/// A program that sends a stream, however it came to do that.
class StreamSource {
public:
    StreamSource() = default;
    virtual ~StreamSource() = default;
    StreamSource(const StreamSource&) = delete;
    StreamSource& operator=(const StreamSource&) = delete;

    virtual const SharedPages& pages() const = 0;
    virtual std::string name() const = 0;                                       ///< of the program, for titles and messages
    virtual std::vector<std::pair<std::string, std::string>> facts() const = 0; ///< of it, for the trace
    /// Until nothing more is sent, or so many ms have passed. True: nothing more is.
    virtual bool wait(int timeout_ms) = 0;
    virtual bool killed() const = 0;                     ///< once nothing more is sent: somebody ended it by force
    virtual std::string how_ended() const { return {}; } ///< as well: "exit code 3"; empty: as it should, or that is not known
    /// While nothing of it is recorded: why, as far as that is known. Any thread.
    virtual std::string why_nothing_yet() const { return {}; }
    /// Its user leaves the inspector while it runs.
    virtual void leave() = 0;
    /// Where nothing of what it sends can be taken any more: it goes on all the same, or there is no reason to stay with it.
    virtual bool goes_on_unread() const { return true; }
    /// What there is to say of how it was recorded, once nothing more is sent; each a sentence.
    virtual std::vector<std::string> notes() const { return {}; }
    /// The command's exit code when all is over. Throws Error(device) where it should have sent something and did not.
    virtual int code_after(const ProgramStream& stream) const = 0;
};

} // namespace schedscope
