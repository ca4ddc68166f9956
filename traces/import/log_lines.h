#pragma once

#include "traces/import/log_file.h"
#include "traces/import/scheduler_line.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// A line as the program wrote it: scheduler lines that were wrapped are whole again and begin with their first word.
struct WholeLine {
    LineKind kind = LineKind::other;
    std::string_view text; ///< good until the next call
};

/// Undoes what terminals and issue trackers do to long lines: a scheduler line that lacks something is continued by the lines
/// below it as long as that adds to it.
class LogLines {
public:
    /// `width`: of the longest line of the log; a shorter one that goes on below lost the blank that it was broken at.
    LogLines(LogFile& file, size_t width) : file_(file), width_(width) {}

    bool next(WholeLine& line);

private:
    void take_line(std::string_view line);
    size_t progress(std::string_view text, LineKind kind);
    void settle();
    void give_up();

    LogFile& file_;
    size_t width_;
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
    LoggedSplit split_;
    LoggedNode node_;
};

} // namespace schedscope::import
