#pragma once

#include "runtime/system/visible_text.h"

#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>

namespace schedscope {

/// A stream's buffer that shows control characters instead of sending them. Newlines and tabs pass. Any thread may write.
class VisibleBuffer final : public std::streambuf {
public:
    /// Takes the stream's buffer over, and gives it back at its end; the stream has to live longer.
    explicit VisibleBuffer(std::ostream& stream);
    ~VisibleBuffer() override;
    VisibleBuffer(const VisibleBuffer&) = delete;
    VisibleBuffer& operator=(const VisibleBuffer&) = delete;

protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* bytes, std::streamsize n) override;
    int sync() override;

private:
    std::ostream& stream_;
    std::streambuf& terminal_;
    std::mutex mutex_;
    VisiblePieces pieces_;
};

/// Standard output and standard error as the program prints to them while this lives. The one that is a terminal gets no control
/// character, whoever wrote the text (a file's names, a model's pieces); what goes to a pipe or a file is not changed.
class StandardStreams {
public:
    StandardStreams();

private:
    std::optional<VisibleBuffer> out_, error_;
};

/// Empties the line that the cursor of standard error stands in, which has to be a terminal: the one sequence that the command
/// line sends by itself.
void erase_terminal_line();

} // namespace schedscope
