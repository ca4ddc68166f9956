#pragma once

#include "viz/picture.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace schedscope::tui {

/// Draws a picture of a history into a file, on a thread of its own: a layout may take a minute.
class PictureRun {
public:
    PictureRun();
    ~PictureRun(); ///< stops one that is being drawn
    PictureRun(const PictureRun&) = delete;
    PictureRun& operator=(const PictureRun&) = delete;

    /// Throws Error(usage) when one is being drawn, or when the file's name says no format.
    void start(std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path);
    void cancel() noexcept { cancelled_ = true; }
    bool running() const noexcept { return worker_.joinable(); }
    const std::string& path() const noexcept { return path_; } ///< of the last one
    /// Readable when it is done, or has failed.
    int descriptor() const noexcept { return done_; }
    /// After that: what became of it. `failed`: why there is no picture.
    std::string finish(bool& failed);

private:
    int done_;
    std::atomic<bool> cancelled_ = false;
    std::string path_, error_;
    std::jthread worker_;
};

} // namespace schedscope::tui
