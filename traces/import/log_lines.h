#pragma once

#include "traces/import/log_file.h"
#include "traces/import/scheduler_line.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// A line as the program wrote it: scheduler lines that were wrapped are whole again and begin with their first word.
struct WholeLine {
    LineKind kind = LineKind::other;
    std::string_view text; ///< good until the next call
};

/// The lines of a log as they stand in it.
struct LineWidth {
    size_t longest = 0;
    int64_t n_longest = 0; ///< lines of that length

    /// Lines that are too long for a terminal all end at its edge; the longest line of another log is alone, but for those of
    /// the scheduler, whose fields have fixed widths.
    bool is_wrapped() const noexcept { return n_longest > 2; }
};

/// Undoes what terminals and issue trackers do to long lines: a scheduler line that lacks something is continued by the lines
/// below it as long as that adds to it, any other line by those below it as long as it ends where lines of that log were broken.
class LogLines {
public:
    /// A shorter line than the longest that goes on below lost the blank that it was broken at.
    LogLines(LogFile& file, const LineWidth& width) : file_(file), width_(width.longest), wrapped_(width.is_wrapped()) {}

    bool next(WholeLine& line);

private:
    bool read_more();
    bool goes_on(std::string_view piece, std::string_view below) const noexcept;
    void take_line(std::string_view line);
    size_t progress(std::string_view text, LineKind kind);
    void settle();
    void give_up();

    LogFile& file_;
    size_t width_;
    bool wrapped_;        ///< at its width, wherever that is in a word
    std::string pending_; ///< a scheduler line that may go on
    std::string stamp_;   ///< what stood in front of it
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
    std::string whole_; ///< another line than the scheduler's, put together
    LoggedSplit split_;
    LoggedNode node_;
};

} // namespace schedscope::import
