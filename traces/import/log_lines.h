#pragma once

#include "traces/import/scheduler_line.h"

#include <atomic>
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
    /// "-": standard input. `stop`: once it is set there are no more lines, while a pipe is kept as well as while it is read; may be null. Throws Error(input) when
    /// the log can't be read, Error(device) when a pipe can't be kept.
    explicit LogFile(const std::string& path, const std::atomic<bool>* stop = nullptr);

    void rewind();
    /// The next line, without its end, colours and control characters; good until the next call. A line of more than a megabyte comes in parts.
    bool next(std::string_view& line);
    /// Lines were not given any more, or the log was not kept to its end, because somebody asked to stop.
    bool stopped() const noexcept { return stopped_; }
    /// The last line that `next` gave had no end.
    bool ended_within_line() const noexcept { return open_end_; }

private:
    struct Closer {
        void operator()(std::FILE* file) const noexcept;
    };
    bool is_to_stop() noexcept;
    size_t read_block();
    void keep(size_t n);
    bool fill();
    void clean(std::string_view raw);

    std::string path_;
    const std::atomic<bool>* stop_;
    bool stopped_ = false;
    bool wide_ = false; ///< of two bytes a code unit, as PowerShell writes
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
