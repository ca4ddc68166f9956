#pragma once

#include "traces/import/scheduler_line.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// A log that is read line by line, twice: what can't be read again from its beginning (a pipe) is kept in a file without a name.
class LogFile {
public:
    /// "-": standard input. Throws Error(input).
    explicit LogFile(const std::string& path);

    void rewind();
    /// The next line, without its end, colours and control characters; good until the next call. A line of more than a megabyte comes in parts.
    bool next(std::string_view& line);
    /// The last line that `next` gave had no end.
    bool ended_within_line() const noexcept { return open_end_; }

private:
    struct Closer {
        void operator()(std::FILE* file) const noexcept;
    };
    bool fill();
    void clean(std::string_view raw);

    std::string path_;
    std::unique_ptr<std::FILE, Closer> file_;
    std::vector<char> buffer_;
    size_t at_ = 0, end_ = 0;
    std::string line_;
    bool open_end_ = false;
};

/// A line as the program wrote it: scheduler lines that were wrapped are whole again and begin with their first word.
struct WholeLine {
    LineKind kind = LineKind::other;
    std::string_view text; ///< good until the next call
};

/// Undoes what terminals and issue trackers do to long lines: a scheduler line that lacks something is continued by the lines below it as long as that
/// adds to it.
class LogLines {
public:
    /// `width`: of the longest line of the log; a shorter one that goes on below lost the blank that it was broken at.
    LogLines(LogFile& file, size_t width) : file_(file), width_(width) {}

    bool next(WholeLine& line);
    int64_t n_joined() const noexcept { return n_joined_; } ///< lines that were continuations

private:
    bool take_line(std::string_view line);
    size_t progress(std::string_view text, LineKind kind);
    void settle();
    void give_up();

    LogFile& file_;
    size_t width_;
    std::string pending_; ///< a scheduler line that may go on
    LineKind kind_ = LineKind::other;
    size_t pending_progress_ = 0;
    bool complete_ = false;
    size_t last_length_ = 0;
    std::string tried_; ///< pending_ and lines that may continue it
    std::vector<std::string> held_;
    struct Ready {
        LineKind kind;
        std::string text;
    };
    std::vector<Ready> ready_;
    size_t given_ = 0;
    LoggedSplit split_;
    LoggedNode node_;
    int64_t n_joined_ = 0;
};

} // namespace schedscope::import
