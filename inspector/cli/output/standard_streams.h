#pragma once

#include "runtime/system/visible_text.h"

#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>

namespace schedscope {

/// Stands between a stream and its buffer, which the stream has again at the end; the stream has to live longer. Any thread may
/// write.
class StreamBuffer : public std::streambuf {
public:
    ~StreamBuffer() override;
    StreamBuffer(const StreamBuffer&) = delete;
    StreamBuffer& operator=(const StreamBuffer&) = delete;

protected:
    explicit StreamBuffer(std::ostream& stream);
    std::streambuf& below() noexcept { return below_; }

    int_type overflow(int_type byte) final;
    std::streamsize xsputn(const char* bytes, std::streamsize n) final;
    int sync() final;

    virtual bool put(std::string_view text) = 0; ///< false: it can't be written. One thread at a time.
    virtual bool flush() = 0;

private:
    std::ostream& stream_;
    std::streambuf& below_;
    std::mutex mutex_;
};

/// Writes to a descriptor and goes on where a signal interrupts that: the C library's streams, which it replaces, count that as a
/// failure and lose what they hold.
class DescriptorBuffer final : public StreamBuffer {
public:
    /// To a terminal it writes at the end of each line, elsewhere when there is much or when it is asked to.
    DescriptorBuffer(std::ostream& stream, int descriptor);
    ~DescriptorBuffer() override;

    bool is_terminal() const noexcept { return is_terminal_; }

protected:
    bool put(std::string_view text) override;
    bool flush() override;

private:
    int descriptor_;
    bool is_terminal_;
    std::string held_;
};

/// Shows control characters instead of sending them. Newlines and tabs pass.
class VisibleBuffer final : public StreamBuffer {
public:
    explicit VisibleBuffer(std::ostream& stream) : StreamBuffer(stream) {}
    ~VisibleBuffer() override;

protected:
    bool put(std::string_view text) override;
    bool flush() override;

private:
    VisiblePieces pieces_;
};

/// Standard output and standard error as the program prints to them while this lives. The one that is a terminal gets no control
/// character, whoever wrote the text (a file's names, a model's pieces); what goes to a pipe or a file is not changed.
class StandardStreams {
public:
    StandardStreams();

private:
    DescriptorBuffer out_, error_;
    std::optional<VisibleBuffer> shown_out_, shown_error_; ///< above them
};

/// Empties the line that the cursor of standard error stands in, which has to be a terminal: the one sequence that the command
/// line sends by itself.
void erase_terminal_line();

} // namespace schedscope
