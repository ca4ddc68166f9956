#pragma once

#include "inspector/tui/background/background_task.h"
#include "viz/pictures/picture.h"

#include <memory>
#include <string>

namespace schedscope::tui {

/// Draws a picture of a history into a file, in the background: a layout may take a minute.
class PictureRun {
public:
    /// Throws Error(usage) when one is being drawn, or when the file's name says no format.
    void start(std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path);
    void cancel() noexcept { task_.stop(); }
    bool running() const noexcept { return task_.running(); }
    const std::string& path() const noexcept { return path_; } ///< of the last one
    /// Readable when it is done, or has failed.
    int descriptor() const noexcept { return task_.descriptor(); }
    /// After that: what became of it. `failed`: why there is no picture.
    std::string finish(bool& failed);

private:
    std::string path_;
    BackgroundTask<bool> task_; ///< true: it is written
};

} // namespace schedscope::tui
