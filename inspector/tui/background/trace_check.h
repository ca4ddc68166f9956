#pragma once

#include "inspector/tui/background/background_task.h"

#include <string>
#include <string_view>

namespace schedscope::tui {

/// Reads a trace through in the background: is it damaged, or changed since it was written?
class TraceCheck {
public:
    /// `path`: empty for none.
    explicit TraceCheck(std::string path) : path_(std::move(path)) {}

    /// Begins, if it has not begun yet and there is a trace.
    void begin();
    /// Readable when it is done.
    int descriptor() const noexcept { return task_.descriptor(); }
    /// After that: what is wrong; empty: nothing.
    std::string finish();
    /// The same in a few words.
    std::string_view mark() const noexcept { return mark_; }

private:
    struct Finding {
        std::string sentence;  ///< empty: nothing
        std::string_view mark; ///< of the program's constants
    };
    std::string path_; ///< until it has begun
    BackgroundTask<Finding> task_;
    std::string_view mark_;
};

} // namespace schedscope::tui
