#pragma once

#include "inspector/tui/background/background_task.h"

#include <optional>
#include <string>

namespace schedscope::tui {

/// Reads a trace through for damage, in the background.
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
    bool found_damage() const noexcept { return damaged_; }

private:
    std::string path_;                                ///< until it has begun
    BackgroundTask<std::optional<std::string>> task_; ///< what is wrong
    bool damaged_ = false;
};

} // namespace schedscope::tui
