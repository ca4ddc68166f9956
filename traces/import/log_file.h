#pragma once

#include "traces/import/opened_input.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// A log that is read line by line, twice: what can't be read again from its beginning (a pipe) is kept in a file without a name.
class LogFile {
public:
    /// Once somebody asks to stop there are no more lines, while a pipe is kept as well as while it is read. Throws
    /// Error(input) when the log can't be read, Error(device) when a pipe can't be kept. This and `next` throw Error(input) for
    /// a log beyond the limits.
    struct Limits {
        int64_t bytes, line_bytes; ///< of the log, and without an end of line
    };
    LogFile(OpenedInput input, const Limits& limits);

    const std::string& path() const noexcept { return input_.path(); }
    void rewind();
    /// The next line, without its end, colours and control characters; good until the next call. A line of more than a megabyte
    /// comes in parts.
    bool next(std::string_view& line);
    /// Lines were not given any more, or the log was not kept to its end, because the user asked to stop.
    bool stopped() const noexcept { return stopped_; }
    /// The last line that `next` gave had no end.
    bool ended_within_line() const noexcept { return open_end_; }

private:
    bool is_to_stop() noexcept;
    size_t read_block();
    void note_read(size_t n);
    [[noreturn]] void refuse_size() const;
    void keep();
    bool fill();
    void clean(std::string_view raw);

    OpenedInput input_;
    Limits limits_;
    bool stopped_ = false;
    bool wide_ = false; ///< of two bytes a code unit, as PowerShell writes
    std::vector<char> buffer_;
    size_t at_ = 0, end_ = 0;
    bool kept_ = false;                 ///< what is read is our own copy
    int64_t read_ = 0, line_bytes_ = 0; ///< since the beginning, and since the last end of a line
    std::string line_;
    bool open_end_ = false;
};

} // namespace schedscope::import
